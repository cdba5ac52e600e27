// SPDX-License-Identifier: MIT OR Apache-2.0
//! In which order the points of a run with a stated precision are simulated.
//!
//! Every block (all schemes at one value of the axes) has its looks, fixed beforehand in
//! replications. A block looks when all points up to its look are finished, and either stops there
//! or continues to its next look. What a look contains does not depend on the order in which points
//! finish, so tables and digests do not depend on the number of threads.

use std::collections::{BTreeSet, VecDeque};

use cemark_report::comparison::precision::Standing;
use cemark_report::stats::sequential;
use cemark_scenario::{Plan, Precision};

/// The order of the points of one run.
pub(super) struct Schedule {
    blocks: Vec<Block>,
    /// For each point the one whose simulation gives its result ([`Plan::simulated_as`]); several
    /// blocks may need it.
    first: Vec<usize>,
    /// For each point that is simulated the blocks that need it.
    needed_by: Vec<Vec<usize>>,
    started: Vec<bool>,
    finished: Vec<bool>,
}

struct Block {
    /// The points of each replication.
    replications: Vec<Vec<usize>>,
    /// The replications after which it looks.
    looks: Vec<u32>,
    /// The look that it works for.
    look: usize,
    /// Points up to that look that no thread has taken.
    waiting: VecDeque<usize>,
    /// Points between that look and the next one that no thread has taken: for threads that would
    /// be idle.
    ahead: VecDeque<usize>,
    stopped: bool,
    /// Result of the last look.
    standing: Option<Standing>,
}

impl Schedule {
    /// Schedule of a plan whose points are partly finished.
    pub(super) fn new(plan: &Plan, precision: &Precision, finished: Vec<bool>) -> Self {
        let blocks = plan.blocks().into_iter().map(|block| Block {
            replications: block.replications,
            looks: sequential::looks(precision.most),
            look: 0,
            waiting: VecDeque::new(),
            ahead: VecDeque::new(),
            stopped: false,
            standing: None,
        });
        let blocks: Vec<Block> = blocks.collect();
        let first = plan.simulated_as();
        let mut needed_by = vec![Vec::new(); plan.points.len()];
        for (b, block) in blocks.iter().enumerate() {
            for point in block.replications.iter().flatten() {
                needed_by[first[*point]].push(b);
            }
        }
        let mut schedule = Schedule {
            blocks,
            first,
            needed_by,
            started: finished.clone(),
            finished,
        };
        for block in &mut schedule.blocks {
            block.waiting = block.between(0, &schedule.first);
            block.ahead = block.between(1, &schedule.first);
        }
        schedule
    }

    /// The next point to simulate: the earliest look first, and points beyond a look only where no
    /// other is left.
    pub(super) fn next(&mut self) -> Option<usize> {
        let goes_on = |block: &&mut Block| !block.stopped;
        let mut active: Vec<&mut Block> = self.blocks.iter_mut().filter(goes_on).collect();
        active.sort_by_key(|block| block.look);
        let started = &self.started;
        let take = |points: &mut VecDeque<usize>| loop {
            match points.pop_front() {
                Some(point) if started[point] => {}
                found => return found,
            }
        };
        let waiting = active.iter_mut().find_map(|b| take(&mut b.waiting));
        let next = waiting.or_else(|| active.iter_mut().find_map(|b| take(&mut b.ahead)))?;
        self.started[next] = true;
        Some(next)
    }

    /// A point is finished.
    pub(super) fn finished(&mut self, point: usize) {
        self.finished[point] = true;
    }

    /// A block that can look, and the points of that look, in the order of the plan.
    pub(super) fn to_look(&self) -> Option<(usize, Vec<usize>)> {
        let blocks = self.blocks.iter().enumerate();
        let mut ready = blocks.filter(|(_, b)| !b.stopped);
        ready.find_map(|(i, block)| {
            let points = block.points(block.looks[block.look]);
            let all = points.iter().all(|p| self.finished[self.first[*p]]);
            all.then_some((i, points))
        })
    }

    /// Takes the result of a block's look.
    pub(super) fn looked(&mut self, block: usize, standing: Standing) {
        let block = &mut self.blocks[block];
        block.stopped = standing.stops() || block.look + 1 == block.looks.len();
        block.standing = Some(standing);
        if block.stopped {
            block.waiting.clear();
            block.ahead.clear();
            return;
        }
        block.look += 1;
        block.waiting = std::mem::take(&mut block.ahead);
        block.ahead = block.between(block.look + 1, &self.first);
    }

    /// Whether a point that is being simulated may still be needed.
    pub(super) fn wants(&self, point: usize) -> bool {
        self.needed_by[point]
            .iter()
            .any(|b| !self.blocks[*b].stopped)
    }

    /// The point whose simulation gives the result of this one.
    pub(super) fn simulated_as(&self, point: usize) -> usize {
        self.first[point]
    }

    /// Whether every block has stopped.
    pub(super) fn is_done(&self) -> bool {
        self.blocks.iter().all(|block| block.stopped)
    }

    /// The points up to the last look of each block, in the order of the plan.
    pub(super) fn looked_at(&self) -> Vec<usize> {
        let all = self.blocks.iter().flat_map(|block| {
            let looked = block.standing.as_ref().map_or(0, |s| s.replications);
            block.points(looked)
        });
        all.collect::<BTreeSet<usize>>().into_iter().collect()
    }

    /// The points up to the look at which each block will probably stop.
    pub(super) fn expected(&self) -> Vec<usize> {
        let each = self.blocks.iter().flat_map(|block| {
            let replications = match &block.standing {
                Some(standing) if block.stopped => standing.replications,
                Some(standing) => standing.expected().max(block.looks[block.look]),
                None => sequential::first_guess(block.looks[block.looks.len() - 1]),
            };
            block.points(replications)
        });
        each.map(|point| self.first[point]).collect()
    }
}

impl Block {
    /// The points of the first replications, in the order of the plan.
    fn points(&self, replications: u32) -> Vec<usize> {
        let first = self.replications.iter().take(replications as usize);
        let mut points: Vec<usize> = first.flatten().copied().collect();
        points.sort_unstable();
        points
    }

    /// The points to simulate between a look and the one before it, replication by replication.
    fn between(&self, look: usize, first: &[usize]) -> VecDeque<usize> {
        let Some(&to) = self.looks.get(look) else {
            return VecDeque::new();
        };
        let from = look.checked_sub(1).map_or(0, |before| self.looks[before]);
        let added = &self.replications[from as usize..to as usize];
        added.iter().flatten().map(|point| first[*point]).collect()
    }
}

#[cfg(test)]
mod tests {
    use cemark_scenario::{Overrides, parse};

    use super::*;

    const FILE: &str = "
[topology]
kind = \"star\"
hosts = 4
[[workload]]
kind = \"poisson\"
sizes = \"web-search\"
load = 0.5
flows = 100
[[scheme]]
marker = \"threshold\"
[[scheme]]
marker = \"none\"
[sweep]
\"workload.load\" = [0.3, 0.5]
[precision]
within = 5
most = 8
";

    fn plan() -> Plan {
        parse(FILE, "f.toml", &Overrides::default()).expect("a scenario")
    }

    fn schedule(plan: &Plan, finished: &[usize]) -> Schedule {
        let precision = plan.precision.as_ref().expect("it states one");
        let is = |i| finished.contains(&i);
        Schedule::new(plan, precision, (0..plan.points.len()).map(is).collect())
    }

    /// A look after which the block continues, or stops because its interval is narrow.
    fn standing(plan: &Plan, replications: u32, narrow: bool) -> Standing {
        use cemark_report::comparison::precision::Known;
        let precision = plan.precision.as_ref().expect("it states one");
        Standing {
            replications,
            most: precision.most,
            within: precision.within,
            metrics: vec![Known {
                metric: cemark_report::metrics::find("short.mean").expect("a metric"),
                present: true,
                half: Some(if narrow { 1.0 } else { 9.0 }),
            }],
        }
    }

    /// (load, scheme, seed) of a point, short.
    fn name(plan: &Plan, i: usize) -> String {
        let p = &plan.points[i];
        format!("{}/{}/{}", p.load.unwrap_or(0.0), &p.scheme[..1], p.seed)
    }

    #[test]
    fn every_block_has_its_first_replication_before_any_has_two() {
        let plan = plan();
        assert_eq!(plan.points.len(), 2 * 2 * 8);
        let mut s = schedule(&plan, &[]);
        let first: Vec<String> = (0..6)
            .filter_map(|_| s.next())
            .map(|i| name(&plan, i))
            .collect();
        let labels = [&plan.schemes[0][..1], &plan.schemes[1][..1]];
        let [a, b] = labels;
        assert_eq!(
            first,
            [
                format!("0.3/{a}/1"),
                format!("0.3/{b}/1"),
                format!("0.5/{a}/1"),
                format!("0.5/{b}/1"),
                // Idle threads work ahead, but no further than the next look.
                format!("0.3/{a}/2"),
                format!("0.3/{b}/2"),
            ]
        );
        assert_eq!((0..9).filter_map(|_| s.next()).count(), 2);
        assert!(s.to_look().is_none());
    }

    #[test]
    fn a_block_stops_by_itself() {
        let plan = plan();
        let mut s = schedule(&plan, &[]);
        let mut order = Vec::new();
        while !s.is_done() {
            while let Some((block, points)) = s.to_look() {
                let replications = (points.len() / 2) as u32;
                assert!(points.windows(2).all(|w| w[0] < w[1]));
                order.push((block, replications));
                s.looked(
                    block,
                    standing(&plan, replications, block == 0 && replications >= 3),
                );
            }
            if let Some(point) = s.next() {
                assert!(s.wants(point));
                s.finished(point);
            }
        }
        let of = |b: usize| -> Vec<u32> {
            order
                .iter()
                .filter(|(block, _)| *block == b)
                .map(|(_, n)| *n)
                .collect()
        };
        assert_eq!(of(0), [1, 2, 3]);
        assert_eq!(of(1), [1, 2, 3, 4, 6, 8]);
        assert_eq!(s.looked_at().len(), 2 * 3 + 2 * 8);
        assert_eq!(s.expected().len(), 2 * 3 + 2 * 8);
        assert!(!s.wants(0) && s.next().is_none());
    }

    #[test]
    fn finished_points_are_not_run_again() {
        let plan = plan();
        let blocks = plan.blocks();
        // Of a run that was killed: the first two replications of one block.
        let kept: Vec<usize> = blocks[0].replications[..2].concat();
        let mut s = schedule(&plan, &kept);
        assert_eq!(s.to_look(), Some((0, blocks[0].replications[0].clone())));
        s.looked(0, standing(&plan, 1, false));
        let both: BTreeSet<usize> = kept.iter().copied().collect();
        assert_eq!(s.to_look(), Some((0, both.into_iter().collect())));
        s.looked(0, standing(&plan, 2, false));
        assert!(s.to_look().is_none());
        let next = s.next().expect("a point");
        assert!(!kept.contains(&next), "{}", name(&plan, next));
        assert_eq!(s.looked_at().len(), 4);
    }
}
