// SPDX-License-Identifier: MIT OR Apache-2.0
//! The transports of a configuration: that of most flows, and those of workloads with their own.

use cemark_transport::Control;
use cemark_transport::rdma::Rdma;

use crate::config::Config;
use crate::workload::{Kind, Workload};

impl Config {
    /// The transport of a workload's flows.
    pub fn transport_of<'a>(&'a self, workload: &'a Workload) -> &'a cemark_transport::Config {
        workload.transport.as_deref().unwrap_or(&self.transport)
    }

    /// The unlike transports, that of [`Config::transport`] first, and the place of each workload's
    /// transport among them.
    pub fn grouped(&self) -> (Vec<&cemark_transport::Config>, Vec<u16>) {
        let mut all = vec![&self.transport];
        let mut of = |workload| {
            let own = self.transport_of(workload);
            let known = all.iter().position(|&t| t == own);
            let place = known.unwrap_or(all.len());
            if place == all.len() {
                all.push(own);
            }
            place as u16
        };
        let places = self.workloads.iter().map(&mut of).collect();
        (all, places)
    }

    /// The transports of all flows, each once, in the order of the workloads;
    /// [`Config::transport`] where only pings are sent.
    pub fn transports(&self) -> Vec<&cemark_transport::Config> {
        let sends = |w: &&Workload| !matches!(w.kind, Kind::Probe(_));
        let all = self.workloads.iter().filter(sends);
        each_once(all.map(|w| self.transport_of(w))).unwrap_or_else(|| vec![&self.transport])
    }

    /// The controllers of TCP senders, each once, in the order of the workloads; that of
    /// [`Config::transport`] where no workload sends with TCP.
    pub fn controls(&self) -> Vec<&Control> {
        let tcp = self.transports().into_iter().filter(|t| t.rdma.is_none());
        each_once(tcp.map(|t| &t.control)).unwrap_or_else(|| vec![&self.transport.control])
    }

    /// The queue pairs of all flows, each configuration once; empty where all flows use TCP.
    pub fn queue_pairs(&self) -> Vec<&Rdma> {
        let pairs = self
            .transports()
            .into_iter()
            .filter_map(|t| t.rdma.as_ref());
        each_once(pairs).unwrap_or_default()
    }

    /// Whether some flow is ECN-capable.
    pub fn any_capable(&self) -> bool {
        let capable = |t: &&cemark_transport::Config| t.rdma.is_some() || t.control.ecn_capable();
        self.transports().iter().any(capable)
    }

    /// Bytes on the wire of the largest data packet of any flow.
    pub fn full_packet(&self) -> u32 {
        let full = |t: &cemark_transport::Config| u32::from(t.mss) + u32::from(t.header_bytes);
        let all = self.transports().into_iter().map(full);
        all.max().unwrap_or_default()
    }
}

/// The items in their order without repetitions; `None` where there are none.
fn each_once<T: PartialEq>(items: impl Iterator<Item = T>) -> Option<Vec<T>> {
    let mut all: Vec<T> = Vec::new();
    for item in items {
        if !all.contains(&item) {
            all.push(item);
        }
    }
    (!all.is_empty()).then_some(all)
}
