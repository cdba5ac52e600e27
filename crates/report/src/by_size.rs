// SPDX-License-Identifier: MIT OR Apache-2.0
//! Slowdown of flows by size: percentiles of each replication and bucket of sizes, and their means
//! over the replications.
//!
//! The slowdown of a flow is its completion time over that of an empty network. All schemes that
//! are compared have the same buckets. A percentile is the nearest rank; a 95th percentile of fewer
//! than 20 flows and a 99th of fewer than 100 are the largest value, and have no entry.

use std::collections::BTreeMap;
use std::str::FromStr;

use cemark_scenario::{Measure, read_quantity};
use cemark_sim::outcome::FlowRecord;
use serde::{Deserialize, Serialize};

use crate::stats::{self, Statistic};

/// Name of the numbers: of the field in `summary.json`, of charts and tables.
pub const NAME: &str = "slowdown-by-size";

/// Bounds between buckets of flow sizes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Buckets {
    /// Deciles of the sizes of all measured flows.
    #[default]
    Deciles,
    /// Largest sizes of the buckets in bytes, rising. Larger flows are in one more bucket.
    UpTo(Vec<u64>),
}

/// Most bounds.
const MOST: usize = 100;

/// Bounds as words with units, between commas: `10KB,100KB,1MB`.
impl FromStr for Buckets {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let size = |word: &str| read_quantity(word.trim(), Measure::Length);
        let bounds: Vec<u64> = text.split(',').map(size).collect::<Result<_, _>>()?;
        let rising = bounds.windows(2).all(|pair| pair[0] < pair[1]);
        match rising && bounds[0] > 0 && bounds.len() <= MOST {
            true => Ok(Buckets::UpTo(bounds)),
            false => Err(format!(
                "write at most {MOST} rising sizes, such as 10KB,100KB,1MB"
            )),
        }
    }
}

/// Percentiles of the slowdown, by name.
pub const PERCENTILES: [(&str, f64); 3] = [("p50", 0.50), ("p95", 0.95), ("p99", 0.99)];

/// Flows of a scheme, by replication.
#[derive(Clone, Debug)]
pub struct Replications<'a> {
    /// Label of the scheme.
    pub scheme: &'a str,
    /// Measured flows of each replication.
    pub flows: Vec<&'a [FlowRecord]>,
}

/// Slowdown of a scheme by flow size, at one value of the axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SchemeSlowdown {
    /// Value of each swept axis.
    pub axes: BTreeMap<String, String>,
    /// Label of the scheme.
    pub scheme: String,
    /// Buckets with measured flows, by rising size.
    pub buckets: Vec<Bucket>,
}

/// Slowdown of the flows between two sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bucket {
    /// Flows of the bucket have more payload bytes.
    pub above_bytes: u64,
    /// Flows of the bucket have at most this many payload bytes.
    pub up_to_bytes: u64,
    /// Median size of the bucket's flows under all schemes.
    pub median_bytes: u64,
    /// Finished flows of the scheme, all replications.
    pub flows: u64,
    /// Median slowdown.
    pub p50: Option<Estimate>,
    /// 95th percentile; `null` where a replication has fewer than 20 flows.
    pub p95: Option<Estimate>,
    /// 99th percentile; `null` where a replication has fewer than 100 flows.
    pub p99: Option<Estimate>,
}

impl Bucket {
    /// The entries of [`PERCENTILES`], in their order.
    pub fn percentiles(&self) -> [Option<Estimate>; 3] {
        [self.p50, self.p95, self.p99]
    }
}

/// Mean over replications with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Mean over the replications.
    pub mean: f64,
    /// Lower end of the 95 % interval of the mean; absent below three replications.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

impl Estimate {
    /// The interval.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }
}

/// Slowdown of each scheme in common buckets, which have `axes`. `look` is that of
/// [`stats::interval_of_mean`].
pub fn of_schemes(
    axes: &BTreeMap<String, String>,
    schemes: &[Replications<'_>],
    buckets: &Buckets,
    look: Option<u32>,
) -> Vec<SchemeSlowdown> {
    let cuts = Cuts::new(schemes, buckets);
    let of_scheme = |replications: &Replications<'_>| SchemeSlowdown {
        axes: axes.clone(),
        scheme: replications.scheme.to_owned(),
        buckets: cuts.slowdowns(replications, look),
    };
    schemes.iter().map(of_scheme).collect()
}

/// Buckets that have flows.
struct Cuts(Vec<Cut>);

struct Cut {
    above: u64,
    up_to: u64,
    median: u64,
}

impl Cuts {
    fn new(schemes: &[Replications<'_>], buckets: &Buckets) -> Self {
        let flows = schemes.iter().flat_map(|s| &s.flows).copied().flatten();
        let mut sizes: Vec<u64> = flows.map(|f| f.bytes).collect();
        sizes.sort_unstable();
        let Some(largest) = sizes.last().copied() else {
            return Cuts(Vec::new());
        };
        let mut bounds: Vec<u64> = match buckets {
            Buckets::Deciles => (1..=10)
                .map(|tenth| sizes[stats::rank(sizes.len(), f64::from(tenth) / 10.0) - 1])
                .collect(),
            Buckets::UpTo(bounds) => bounds.iter().copied().chain([u64::MAX]).collect(),
        };
        bounds.dedup();
        let mut cuts = Vec::new();
        let (mut above, mut rest) = (0, &sizes[..]);
        for up_to in bounds {
            let (here, others) = rest.split_at(rest.partition_point(|size| *size <= up_to));
            if !here.is_empty() {
                cuts.push(Cut {
                    above,
                    up_to: if up_to == u64::MAX { largest } else { up_to },
                    median: here[stats::rank(here.len(), 0.5) - 1],
                });
            }
            (above, rest) = (up_to, others);
        }
        Cuts(cuts)
    }

    fn slowdowns(&self, scheme: &Replications<'_>, look: Option<u32>) -> Vec<Bucket> {
        let of_replication = |flows: &&[FlowRecord]| {
            let mut of_cuts = vec![Vec::new(); self.0.len()];
            for flow in *flows {
                let place = self.0.partition_point(|cut| cut.up_to < flow.bytes);
                of_cuts[place].extend(stats::slowdown(flow));
            }
            of_cuts
                .iter_mut()
                .for_each(|v| v.sort_unstable_by(f64::total_cmp));
            of_cuts
        };
        let replications: Vec<Vec<Vec<f64>>> = scheme.flows.iter().map(of_replication).collect();
        let bucket = |(place, cut): (usize, &Cut)| {
            let sorted: Vec<&[f64]> = replications.iter().map(|r| &r[place][..]).collect();
            let [p50, p95, p99] = PERCENTILES.map(|(_, share)| estimate(&sorted, share, look));
            Bucket {
                above_bytes: cut.above,
                up_to_bytes: cut.up_to,
                median_bytes: cut.median,
                flows: sorted.iter().map(|values| values.len() as u64).sum(),
                p50,
                p95,
                p99,
            }
        };
        self.0.iter().enumerate().map(bucket).collect()
    }
}

/// Percentile of each replication that has values, averaged; `None` where it is the largest value
/// of a replication and not the median.
fn estimate(replications: &[&[f64]], share: f64, look: Option<u32>) -> Option<Estimate> {
    let is_largest = |values: &&[f64]| {
        share > 0.5 && Statistic::Percentile(share).is_maximum(values.len() as u64)
    };
    if replications.iter().any(is_largest) {
        return None;
    }
    let values = replications.iter();
    let values: Vec<f64> = values.filter_map(|v| stats::percentile(v, share)).collect();
    let interval = stats::interval_of_mean(&values, look);
    Some(Estimate {
        mean: stats::mean(&values)?,
        low: interval.map(|i| i.0),
        high: interval.map(|i| i.1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cemark_wire::Picos;

    /// Flows of these sizes and slowdowns.
    fn flows(all: &[(u64, u64)]) -> Vec<FlowRecord> {
        let flow = |(i, &(bytes, slowdown)): (usize, &(u64, u64))| FlowRecord {
            id: i as u64,
            workload: 0,
            class: 0,
            query: None,
            src: 0,
            dst: 1,
            bytes,
            start: Picos::ZERO,
            fct: (slowdown > 0).then(|| Picos::from_micros(10 * slowdown)),
            ideal: Picos::from_micros(10),
            extra: Picos::ZERO,
            marks: 0,
            retransmits: 0,
            timeouts: 0,
        };
        all.iter().enumerate().map(flow).collect()
    }

    fn of(seeds: &[Vec<FlowRecord>], buckets: &Buckets) -> Vec<Bucket> {
        let scheme = Replications {
            scheme: "a",
            flows: seeds.iter().map(|f| &f[..]).collect(),
        };
        of_schemes(&BTreeMap::new(), &[scheme], buckets, None)
            .remove(0)
            .buckets
    }

    #[test]
    fn deciles_have_equal_numbers_of_flows() {
        // Sizes 1 to 200, the slowdown is the size.
        let all: Vec<(u64, u64)> = (1..=200).map(|n| (n, n)).collect();
        let buckets = of(&[flows(&all)], &Buckets::Deciles);
        assert_eq!(buckets.len(), 10);
        for (i, bucket) in (0..).zip(&buckets) {
            let (above, up_to) = (20 * i, 20 * i + 20);
            assert_eq!((bucket.above_bytes, bucket.up_to_bytes), (above, up_to));
            assert_eq!((bucket.median_bytes, bucket.flows), (above + 10, 20));
            let p50 = bucket.p50.expect("flows");
            assert_eq!((p50.mean, p50.interval()), ((above + 10) as f64, None));
            // The 95th percentile of 20 values is the 19th, the 99th would be the largest.
            assert_eq!(bucket.p95.map(|p| p.mean), Some((above + 19) as f64));
            assert_eq!(bucket.p99, None);
        }
    }

    #[test]
    fn flows_of_one_size_are_one_bucket() {
        let buckets = of(&[flows(&[(7, 2); 50])], &Buckets::Deciles);
        assert_eq!(buckets.len(), 1);
        assert_eq!((buckets[0].above_bytes, buckets[0].up_to_bytes), (0, 7));
        assert!(of(&[Vec::new()], &Buckets::Deciles).is_empty());
    }

    #[test]
    fn a_bound_belongs_to_the_bucket_below_and_an_empty_bucket_has_no_entry() {
        let all = [(10, 1), (11, 2), (20, 3), (500, 9)];
        let buckets = of(&[flows(&all)], &Buckets::UpTo(vec![10, 20, 100]));
        let ends: Vec<_> = buckets
            .iter()
            .map(|b| (b.above_bytes, b.up_to_bytes, b.flows))
            .collect();
        assert_eq!(ends, [(0, 10, 1), (10, 20, 2), (100, 500, 1)]);
    }

    #[test]
    fn bounds_are_sizes_with_units() {
        let bounds = |text: &str| text.parse::<Buckets>();
        let read = Buckets::UpTo(vec![10_000, 1_000_000]);
        assert_eq!(bounds("10KB, 1MB"), Ok(read));
        for (text, says) in [
            ("", "KB"),
            ("10", "KB"),
            ("1MB,10KB", "rising"),
            ("10KB,10KB", "rising"),
            ("0B,10KB", "rising"),
            ("10us", "is not a length"),
        ] {
            let said = bounds(text).expect_err(text);
            assert!(said.contains(says), "{text}: {said}");
        }
    }

    #[test]
    fn an_unfinished_flow_has_a_size_and_no_slowdown() {
        let buckets = of(
            &[flows(&[(10, 0), (20, 0), (30, 4)])],
            &Buckets::UpTo(vec![20]),
        );
        assert_eq!((buckets[0].flows, buckets[0].p50), (0, None));
        assert_eq!((buckets[1].flows, buckets[1].median_bytes), (1, 30));
    }

    #[test]
    fn three_replications_have_students_interval() {
        // Medians 1, 2 and 3: mean 2, standard error 1/sqrt(3), t = 4.3027.
        let seeds = [1, 2, 3].map(|slowdown| flows(&[(5, slowdown); 9]));
        let p50 = of(&seeds, &Buckets::Deciles)[0].p50.expect("flows");
        let (low, high) = p50.interval().expect("three replications");
        assert!((p50.mean - 2.0).abs() < 1e-12);
        assert!((high - low - 2.0 * 4.3027 / 3.0_f64.sqrt()).abs() < 1e-3);
        let two = of(&seeds[..2], &Buckets::Deciles)[0].p50.expect("flows");
        assert_eq!((two.mean, two.interval()), (1.5, None));
    }
}
