// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ends of a fresh connection go when nothing refers to them any more. In a divided simulation
//! no shard knows that alone: packets of the connection may be anywhere. So one thread looks, from
//! time to time, while the others wait.

use std::mem::take;

use super::work::Sim;

impl Sim {
    /// Drops the ends of connections whose flows have ended, if no packet and no event refers to
    /// them in any shard. All mail has been taken, so the counts of the shards belong together.
    pub(super) fn retire(&self) {
        let mut shards = self.all();
        for i in 0..shards.len() {
            let mut closed = take(&mut shards[i].part_mut().closed);
            closed.retain(|&conn| {
                let counts = shards.iter().map(|s| s.core.net.rows.counted(conn));
                let packets = counts.fold(0, u32::wrapping_add);
                let quiet = shards.iter().all(|s| s.ends.conns.is_quiet_here(conn));
                let stays = packets > 0 || !quiet;
                if !stays {
                    for shard in &mut shards {
                        shard.ends.conns.retire_here(conn);
                    }
                }
                stays
            });
            shards[i].part_mut().closed = closed;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::super::queries;
    use super::super::work::Sim;
    use crate::shards::Spread;

    /// Queries of 200 flows, one query after the other: the ends of most have gone long before the
    /// last.
    #[test]
    fn ends_go_in_a_divided_simulation() {
        let cfg = queries(5, [20_000, 40_000], 40, 10_000);
        let sim = Sim::new(&cfg, 2, 1);
        sim.work(
            0,
            &mut |_| true,
            &AtomicBool::new(true),
            &mut Spread::default(),
        );
        for shard in &sim.shards {
            let shard = shard.0.lock().expect("no thread has panicked");
            let ends = |c: &&crate::endpoints::conn::Conn| c.tx.is_some() || c.rx.is_some();
            let left = shard.ends.conns.list.iter().filter(ends).count();
            assert!(left < 20, "{left} connections have ends");
        }
        let outcome = sim.into_outcome().expect("not abandoned");
        assert_eq!(outcome.flows.len(), 200);
        assert_eq!(outcome.digest, crate::run(&cfg).digest);
    }
}
