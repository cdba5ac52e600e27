// SPDX-License-Identifier: MIT OR Apache-2.0
//! The main loop: what is due is done, then it waits for sockets and for the next instant.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::fd::OwnedFd;

use cemark_testbed::{Lab, LabFlow, LongCount, PortCount, Record};
use rustix::event::epoll::{self, Event, EventFlags};
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};

use super::conns::{Conns, kind, watch};
use super::network::Network;
use super::probes::Probe;
use super::sample::Sampler;
use super::{Done, Told};

/// From the start of this program to that of the first connections: all sockets exist by then.
const BEFORE: u64 = 100_000_000;
/// Counters of the kernel, in the order in which a record has them.
const COUNTERS: [&str; 4] = ["RetransSegs", "TCPTimeouts", "TCPLossProbes", "InCEPkts"];

/// Event that is due at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// The connection of a flow is opened.
    Open(usize),
    /// Measuring begins.
    From,
    /// A flow starts.
    Start(usize),
    /// A ping leaves: workload and number.
    Ping(usize, u64),
    /// Goodput of an interval.
    Interval,
    /// Lengths of queues.
    Sample,
    /// Measuring ends.
    Until,
    /// The run ends.
    End,
}

struct Run<'a> {
    lab: &'a Lab,
    network: &'a Network,
    /// Flows with and without an end, in order of start.
    flows: Vec<LabFlow>,
    conns: Conns<'a>,
    /// By flow: the connection that was opened for it.
    opened: Vec<Option<usize>>,
    /// Endless flows: connection, and bytes received at the last interval.
    endless: Vec<(usize, u64)>,
    probes: Vec<Probe>,
    samplers: Vec<(usize, Sampler)>,
    due: BinaryHeap<Reverse<(u64, Due)>>,
    timer: OwnedFd,
    /// The clock at the start of the traffic.
    zero: u64,
    awaited: usize,
    delivered: u64,
    at_interval: u64,
    sampling: bool,
    record: Record,
}

fn clock() -> u64 {
    let t = clock_gettime(ClockId::Monotonic);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

pub(super) fn run(lab: &Lab, network: &Network) -> Done<Record> {
    let mut run = Run::new(lab, network)?;
    run.plan();
    while run.work()? {}
    run.finish()
}

impl<'a> Run<'a> {
    fn new(lab: &'a Lab, network: &'a Network) -> Done<Run<'a>> {
        let conns = Conns::new(network, &lab.controls)?;
        let timer = timerfd_create(
            TimerfdClockId::Monotonic,
            TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC,
        );
        let timer = timer.told("timer")?;
        watch(&conns.epoll, &timer, kind::TIMER, EventFlags::IN)?;
        let mut probes = Vec::new();
        for (number, p) in lab.probes.iter().enumerate() {
            probes.push(Probe::new(network, &conns.epoll, number, p)?);
        }
        let mut samplers = Vec::new();
        if lab.times.sample > 0 {
            for &port in &lab.sampled {
                samplers.push((port, Sampler::new(network, port)?));
            }
        }
        network.leave()?;
        let mut flows = lab.flows.clone();
        flows.extend(lab.endless.iter().map(|e| e.flow));
        flows.sort_by_key(|f| (f.start, f.id));
        let ports = network.ports.iter().map(|_| PortCount::default());
        Ok(Run {
            lab,
            network,
            opened: vec![None; flows.len()],
            awaited: flows.iter().filter(|f| f.measured).count(),
            flows,
            conns,
            endless: Vec::new(),
            probes,
            samplers,
            due: BinaryHeap::new(),
            timer,
            zero: clock() + BEFORE + lab.times.lead,
            delivered: 0,
            at_interval: 0,
            sampling: false,
            record: Record {
                ports: ports.collect(),
                kernel: kernel(),
                ..Record::default()
            },
        })
    }

    fn at(&mut self, time: u64, due: Due) {
        self.due.push(Reverse((self.zero + time, due)));
    }

    /// Everything that is known beforehand.
    fn plan(&mut self) {
        for i in 0..self.flows.len() {
            let f = self.flows[i];
            if !f.persistent {
                let before = match self.lab.handshake {
                    true => f.early,
                    false => self.lab.times.lead,
                };
                let at = self.zero + f.start - before;
                self.due.push(Reverse((at, Due::Open(i))));
            }
            self.at(f.start, Due::Start(i));
        }
        for (i, p) in self.lab.probes.iter().enumerate() {
            if p.count > 0 {
                self.due.push(Reverse((self.zero + p.at, Due::Ping(i, 0))));
            }
        }
        let t = self.lab.times;
        self.at(t.from, Due::From);
        self.at(t.until.max(t.from), Due::Until);
        if t.goodput > 0 {
            self.at(t.from + t.goodput, Due::Interval);
        }
        self.at(t.end, Due::End);
    }

    /// Persistent connections that wait for their first flow.
    fn ready(&mut self) -> Done<()> {
        for &(key, n) in &self.lab.ready {
            for _ in 0..n {
                let conn = self.conns.open(key, true)?;
                self.conns.rests(conn);
            }
        }
        Ok(())
    }

    /// Does what is due and waits for more. False at the end.
    fn work(&mut self) -> Done<bool> {
        if !self.lab.ready.is_empty() && self.conns.list.is_empty() {
            self.ready()?;
        }
        while let Some(Reverse((at, due))) = self.due.peek().copied() {
            if at > clock() {
                break;
            }
            self.due.pop();
            if !self.does(at, due)? {
                return Ok(false);
            }
        }
        self.arm()?;
        let mut events: Vec<Event> = Vec::with_capacity(256);
        let spare = rustix::buffer::spare_capacity(&mut events);
        match epoll::wait(&self.conns.epoll, spare, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(format!("epoll: {e}")),
        }
        for event in &events {
            let data = event.data;
            self.happens(data.u64())?;
        }
        Ok(self.awaited > 0 || self.flows.iter().all(|f| !f.measured))
    }

    fn arm(&self) -> Done<()> {
        let Some(Reverse((at, _))) = self.due.peek() else {
            return Ok(());
        };
        let none = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let spec = Itimerspec {
            it_interval: none,
            it_value: Timespec {
                tv_sec: (at / 1_000_000_000) as i64,
                tv_nsec: (at % 1_000_000_000) as _,
            },
        };
        let set = timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &spec);
        set.told("timer")?;
        Ok(())
    }

    fn happens(&mut self, data: u64) -> Done<()> {
        let number = data & 0xffff_ffff;
        match data >> 32 << 32 {
            kind::SENDER => self.conns.write(number as usize),
            kind::RECEIVER => self.reads(number as usize),
            kind::LISTENER => self.conns.accept(number),
            kind::ASKS => {
                let now = clock() - self.zero;
                let workload = self.lab.probes[number as usize].workload;
                for sent in self.probes[number as usize].answered() {
                    self.record.probes.push((workload, sent, now - sent));
                }
                Ok(())
            }
            kind::ANSWERS => self.probes[number as usize].answer(),
            _ => Ok(()),
        }
    }

    fn reads(&mut self, conn: usize) -> Done<()> {
        self.delivered += self.conns.read(conn)?;
        let c = &self.conns.list[conn];
        let Some(flow) = c.flow.filter(|_| c.received >= c.end) else {
            return Ok(());
        };
        let f = self.flows[flow];
        self.conns.ended(conn);
        if f.measured {
            let took = (clock() - self.zero - f.start).saturating_sub(f.spare);
            self.record.ended.insert(f.id, took);
            self.awaited -= 1;
        }
        Ok(())
    }

    fn does(&mut self, at: u64, due: Due) -> Done<bool> {
        match due {
            Due::Open(i) => {
                let f = self.flows[i];
                self.opened[i] = Some(self.conns.open(f.key(), false)?);
            }
            Due::Start(i) => self.starts(i)?,
            Due::Ping(i, n) => {
                let p = self.lab.probes[i];
                self.probes[i].ask(clock() - self.zero)?;
                if n + 1 < p.count {
                    self.due.push(Reverse((at + p.every, Due::Ping(i, n + 1))));
                }
            }
            Due::From => self.begins()?,
            Due::Interval => self.interval(at),
            Due::Sample => {
                for (port, sampler) in &mut self.samplers {
                    let length = sampler.backlog()?;
                    self.record.ports[*port].samples.push(length);
                }
                if self.sampling {
                    let next = at + self.lab.times.sample;
                    self.due.push(Reverse((next, Due::Sample)));
                }
            }
            Due::Until => self.ends()?,
            Due::End => return Ok(false),
        }
        Ok(true)
    }

    fn starts(&mut self, i: usize) -> Done<()> {
        let f = self.flows[i];
        let key = f.key();
        let conn = match self.opened[i] {
            Some(conn) => conn,
            None => match self.conns.idle(key).filter(|_| f.persistent) {
                Some(conn) => conn,
                None => self.conns.open(key, f.persistent)?,
            },
        };
        self.conns.start(conn, i, &f)?;
        if f.bytes == u64::MAX {
            self.endless.push((conn, 0));
            self.record.long.push(LongCount {
                id: f.id,
                intervals: vec![0; self.record.goodput.len()],
                ..LongCount::default()
            });
        }
        Ok(())
    }

    fn begins(&mut self) -> Done<()> {
        for i in 0..self.record.ports.len() {
            self.record.ports[i].from = self.network.port(i)?;
        }
        for (conn, last) in &mut self.endless {
            *last = self.conns.list[*conn].received;
        }
        for (long, (_, last)) in self.record.long.iter_mut().zip(&self.endless) {
            // Until the end of the measurement this is what had arrived before it.
            long.delivered = *last;
        }
        self.at_interval = self.delivered;
        self.sampling = !self.samplers.is_empty();
        if self.sampling {
            self.at(self.lab.times.from, Due::Sample);
        }
        Ok(())
    }

    fn interval(&mut self, at: u64) {
        self.record.goodput.push(self.delivered - self.at_interval);
        self.at_interval = self.delivered;
        for (long, (conn, last)) in self.record.long.iter_mut().zip(&mut self.endless) {
            let now = self.conns.list[*conn].received;
            long.intervals.push(now - *last);
            *last = now;
        }
        let next = at + self.lab.times.goodput;
        if next - self.zero <= self.lab.times.until {
            self.due.push(Reverse((next, Due::Interval)));
        }
    }

    fn ends(&mut self) -> Done<()> {
        self.sampling = false;
        for (long, (conn, _)) in self.record.long.iter_mut().zip(&self.endless) {
            long.delivered = self.conns.list[*conn].received - long.delivered;
        }
        for i in 0..self.record.ports.len() {
            self.record.ports[i].until = self.network.port(i)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Done<Record> {
        self.record.end = clock() - self.zero;
        for i in 0..self.record.ports.len() {
            let end = self.network.port(i)?;
            let port = &mut self.record.ports[i];
            // A run whose flows end before its measurement does is measured to its end.
            if port.until.is_null() {
                port.until = end.clone();
            }
            port.end = end;
        }
        let counters = self.network.counters(&COUNTERS)?;
        self.record.retransmits = counters[0];
        self.record.timeouts = counters[1];
        self.record.tail_probes = counters[2];
        self.record.marked_arrivals = counters[3];
        self.record.delivered = self.delivered;
        Ok(self.record)
    }
}

fn kernel() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    text.trim().to_owned()
}
