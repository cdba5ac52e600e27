// SPDX-License-Identifier: MIT OR Apache-2.0
//! The namespaces of a lab: made by `ip` and `tc`, entered by this thread, removed at the end.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::process::{Command, Stdio};

use cemark_testbed::{Batch, Lab, host};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use serde_json::Value;

use super::{Done, Told};

/// The namespaces, which end with it.
pub(super) struct Network {
    home: File,
    /// By host.
    hosts: Vec<File>,
    /// By port: the namespace's name, the namespace and the device.
    pub(super) ports: Vec<(String, File, String)>,
    names: Vec<String>,
}

impl Network {
    pub(super) fn make(lab: &Lab) -> Done<Network> {
        let names: Vec<String> = lab
            .links
            .iter()
            .map(|b| b.netns.clone())
            .filter(|n| !n.is_empty())
            .collect();
        // What an earlier run has left, if it was killed.
        for name in &names {
            if open(name).is_ok() {
                remove(name);
            }
        }
        let made = Network::with(lab, names.clone());
        if made.is_err() {
            names.iter().for_each(|name| remove(name));
        }
        made
    }

    fn with(lab: &Lab, names: Vec<String>) -> Done<Network> {
        let home = File::open("/proc/thread-self/ns/net").told("this namespace")?;
        // Namespaces first, then what is set in them before their devices are up.
        let (first, rest) = lab.links.split_first().ok_or("a lab without links")?;
        batch(first)?;
        for s in &lab.settings {
            enter(&open(&s.netns)?)?;
            let path = format!("/proc/sys/net/{}", s.path);
            std::fs::write(&path, &s.value).told(&path)?;
        }
        enter(&home)?;
        for one in rest.iter().chain(&lab.qdiscs) {
            batch(one)?;
        }
        let hosts = (0..lab.hosts).map(|i| open(&host(i)));
        let port =
            |(netns, device): &(String, String)| Ok((netns.clone(), open(netns)?, device.clone()));
        Ok(Network {
            home,
            hosts: hosts.collect::<Done<_>>()?,
            ports: lab.ports.iter().map(port).collect::<Done<_>>()?,
            names,
        })
    }

    /// Runs `work` in the namespace of a host.
    pub(super) fn at<T>(&self, host: u32, work: impl FnOnce() -> Done<T>) -> Done<T> {
        enter(&self.hosts[host as usize])?;
        work()
    }

    /// Back to where it began.
    pub(super) fn leave(&self) -> Done<()> {
        enter(&self.home)
    }

    /// Statistics of `tc` on the cemark qdisc of a port; null without one.
    pub(super) fn port(&self, i: usize) -> Done<Value> {
        let (netns, _, device) = &self.ports[i];
        self.leave()?;
        let args = [
            "-n", netns, "-s", "-j", "qdisc", "show", "dev", device, "root",
        ];
        let out = Command::new("tc").args(args).output().told("tc")?;
        let all: Value = serde_json::from_slice(&out.stdout).told("tc")?;
        let all = all.as_array().into_iter().flatten();
        let mut ours = all.filter(|q| q["kind"] == "cemark");
        Ok(ours.next().cloned().unwrap_or(Value::Null))
    }

    /// A sum over all hosts: of `names`, counters of the kernel's TCP and IP.
    pub(super) fn counters(&self, names: &[&str]) -> Done<Vec<u64>> {
        let mut sums = vec![0; names.len()];
        for host in 0..self.hosts.len() as u32 {
            let text = self.at(host, || {
                let read = |file: &str| {
                    let path = format!("/proc/thread-self/net/{file}");
                    std::fs::read_to_string(&path).told(&path)
                };
                Ok(read("snmp")? + &read("netstat")?)
            })?;
            let lines: Vec<&str> = text.lines().collect();
            for pair in lines.chunks(2) {
                let [heads, values] = pair else { continue };
                for (head, value) in heads.split(' ').zip(values.split(' ')) {
                    if let Some(i) = names.iter().position(|n| *n == head) {
                        sums[i] += value.parse().unwrap_or(0);
                    }
                }
            }
        }
        self.leave()?;
        Ok(sums)
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _ = self.leave();
        self.names.iter().for_each(|name| remove(name));
    }
}

fn open(name: &str) -> Done<File> {
    let path = format!("/run/netns/{name}");
    File::open(&path).told(&path)
}

fn remove(name: &str) {
    // It may be half made or gone.
    let _ = Command::new("ip")
        .args(["netns", "del", name])
        .stderr(Stdio::null())
        .status();
}

pub(super) fn enter(namespace: &File) -> Done<()> {
    let kind = Some(LinkNameSpaceType::Network);
    move_into_link_name_space(namespace.as_fd(), kind).told("to enter a network namespace")
}

fn batch(batch: &Batch) -> Done<()> {
    let mut command = Command::new(&batch.program);
    if !batch.netns.is_empty() {
        command.args(["-n", &batch.netns]);
    }
    let pipes = command.args(["-batch", "-"]).stdin(Stdio::piped());
    let mut child = pipes
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .told(&batch.program)?;
    let mut lines = batch.lines.join("\n");
    lines.push('\n');
    if let Some(mut input) = child.stdin.take() {
        input.write_all(lines.as_bytes()).told(&batch.program)?;
    }
    let out = child.wait_with_output().told(&batch.program)?;
    if out.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&out.stderr);
    Err(format!(
        "{} in {}: {}\n{lines}",
        batch.program,
        batch.netns,
        said.trim()
    ))
}
