// SPDX-License-Identifier: MIT OR Apache-2.0
//! At which numbers of seeds a full run looks whether its rows are decided.
//!
//! A row that is looked at again and again until it happens to be decided is wrong more often than
//! its intervals say. The looks are therefore fixed beforehand, and share the 5 % equally: with `n`
//! looks each interval misses with probability `0.05 / n`. All of them together hold the truth with
//! 95 % (Bonferroni's inequality), so the one that decides does, whatever makes a row stop. It is
//! the rule of runs with a stated precision ([`cemark_report::stats::sequential`]), whose looks
//! share the 5 % unequally, since that rule has many of them.

use cemark_report::stats::t_two_sided;

use super::error::Mistake;
use super::verdict::Band;

/// More looks than anyone needs: each makes the intervals of all of them wider.
const MOST_LOOKS: usize = 8;
/// More seeds than anyone waits for.
const MOST_SEEDS: u32 = 1_000;
/// Beyond this number of seeds an estimate says nothing.
const FARTHEST: u64 = 1_000_000;

/// The numbers of seeds, rising.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looks(Vec<u32>);

impl Looks {
    /// Looks of a figure's file, `looks` in its section `[full]`.
    pub(super) fn read(value: &toml::Value) -> Result<Self, Mistake> {
        let list = value.as_array().ok_or(Mistake::Looks)?;
        let number = |v: &toml::Value| {
            let n = v.as_integer().and_then(|n| u32::try_from(n).ok());
            n.filter(|n| (1..=MOST_SEEDS).contains(n))
        };
        let looks: Option<Vec<u32>> = list.iter().map(number).collect();
        let looks = looks.ok_or(Mistake::Looks)?;
        let rises = looks.windows(2).all(|w| w[0] < w[1]);
        match rises && (1..=MOST_LOOKS).contains(&looks.len()) {
            true => Ok(Looks(looks)),
            false => Err(Mistake::Looks),
        }
    }

    /// Looks of a figure whose file names none: the file's seeds, then 2, 4 and 8 times as many. A
    /// figure with one or two seeds continues with 3, 6 and 12, since fewer than three have no
    /// interval over seeds.
    pub fn usual(seeds: u32) -> Self {
        match seeds {
            0..=2 => Looks(vec![seeds.max(1), 3, 6, 12]),
            n => Looks(
                [1, 2, 4, 8]
                    .map(|times| (n * times).min(MOST_SEEDS))
                    .to_vec(),
            ),
        }
    }

    /// A single one, whose intervals are ordinary ones of 95 %.
    pub fn once(seeds: u32) -> Self {
        Looks(vec![seeds])
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.0.len() as u32
    }

    /// The seeds of a look, the first of which is 1.
    pub fn seeds(&self, look: u32) -> Option<u32> {
        let place = look.checked_sub(1)? as usize;
        self.0.get(place).copied()
    }

    /// The seeds of the last one.
    pub fn most(&self) -> u32 {
        self.0.last().copied().unwrap_or(1)
    }

    /// The probability with which an interval of any look may miss.
    pub fn alpha(&self) -> f64 {
        0.05 / f64::from(self.count().max(1))
    }

    /// `3, 6, 12 and 24 seeds`.
    pub fn words(&self) -> String {
        let numbers: Vec<String> = self.0.iter().map(u32::to_string).collect();
        match &numbers[..] {
            [one] => format!("{one} seed{}", if one == "1" { "" } else { "s" }),
            [first @ .., last] => format!("{} and {last} seeds", first.join(", ")),
            [] => String::new(),
        }
    }
}

/// About how many seeds it takes until an interval is on one side of every end of a band, if the
/// measured number stays where it is: its half shrinks as Student's t over the square root of the
/// number. `None` where no number of seeds would be enough, or nothing is known.
pub fn seeds_needed(
    interval: Option<(f64, f64)>,
    band: &Band,
    seeds: u32,
    alpha: f64,
) -> Option<u64> {
    let (low, high) = interval.filter(|(low, high)| low.is_finite() && high.is_finite())?;
    let (value, half) = (0.5 * (low + high), 0.5 * (high - low));
    let ends = [band.lo, band.hi].into_iter().filter(|e| e.is_finite());
    let room = ends.map(|e| (value - e).abs()).reduce(f64::min)?;
    // With fewer than three seeds the interval comes from the flows of each.
    let t = |n: u64| t_two_sided(alpha, n.clamp(3, 1_000) as usize - 1);
    let here = u64::from(seeds.max(1));
    let shrinks = |n: u64| half * t(n) / t(here) * (here as f64 / n as f64).sqrt();
    let enough = |n: &u64| shrinks(*n) <= room;
    if !enough(&FARTHEST) {
        return None;
    }
    let (mut too_few, mut far) = (here, FARTHEST);
    while far - too_few > 1 {
        let middle = too_few + (far - too_few) / 2;
        match enough(&middle) {
            true => far = middle,
            false => too_few = middle,
        }
    }
    Some(far)
}

#[cfg(test)]
mod tests {
    use cemark_wire::hash::SplitMix64;

    use super::*;
    use crate::{Estimate, RowVerdict};

    /// Rows whose true number lies on the end of the band are decided wrongly, whichever way, in
    /// every case. With four looks at ordinary 95 % intervals that happens far more often than the
    /// 5 % that one of them promises; with shares of the 5 % it does not.
    #[test]
    fn shares_keep_the_promise_that_ordinary_intervals_break() {
        let looks = Looks::usual(3);
        let band = Band {
            lo: 0.0,
            hi: f64::INFINITY,
        };
        let decided = |alpha: f64| {
            let mut state = SplitMix64::new(7);
            let uniform = |state: &mut SplitMix64| {
                ((state.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
            };
            // Box and Muller.
            let normal = |state: &mut SplitMix64| {
                let radius = (-2.0 * uniform(state).ln()).sqrt();
                radius * (std::f64::consts::TAU * uniform(state)).cos()
            };
            let runs = 4000;
            let wrong = (0..runs).filter(|_| {
                let seeds: Vec<f64> = (0..looks.most()).map(|_| normal(&mut state)).collect();
                (1..=looks.count()).any(|look| {
                    let n = looks.seeds(look).unwrap() as usize;
                    let interval = Estimate::of_seeds(seeds[..n].to_vec()).interval_at(alpha);
                    band.judge(interval) != RowVerdict::NotDecided
                })
            });
            wrong.count() as f64 / f64::from(runs)
        };
        let (shared, ordinary) = (decided(looks.alpha()), decided(0.05));
        assert!(shared <= 0.05, "{shared}");
        assert!(ordinary > 0.09, "{ordinary}");
    }

    fn read(text: &str) -> Result<Looks, String> {
        let table: toml::Table = format!("looks = {text}").parse().unwrap();
        Looks::read(&table["looks"]).map_err(|e| e.to_string())
    }

    #[test]
    fn looks_share_five_percent() {
        let looks = read("[3, 6, 12, 24]").unwrap();
        assert_eq!(looks, Looks::usual(3));
        assert_eq!((looks.count(), looks.most()), (4, 24));
        assert_eq!(looks.alpha(), 0.0125);
        assert_eq!(looks.words(), "3, 6, 12 and 24 seeds");
        assert_eq!(
            (looks.seeds(0), looks.seeds(2), looks.seeds(5)),
            (None, Some(6), None)
        );
        assert_eq!(Looks::usual(1).words(), "1, 3, 6 and 12 seeds");
        assert_eq!(Looks::usual(10).most(), 80);
        assert_eq!(
            (Looks::once(5).alpha(), Looks::once(1).words()),
            (0.05, "1 seed".into())
        );
    }

    #[test]
    fn lists_that_are_none_are_refused() {
        for text in [
            "3",
            "[]",
            "[3, 3]",
            "[6, 3]",
            "[0, 3]",
            "[\"3\"]",
            "[1, 2, 3, 4, 5, 6, 7, 8, 9]",
        ] {
            let said = read(text).unwrap_err();
            assert!(said.contains("looks = [3, 6, 12, 24]"), "{text}: {said}");
        }
    }

    /// At 6 seeds a half of 2 around 9 overlaps 10; a half below 1 does not. With n seeds the half
    /// is 2 x t(n) / t(6) x sqrt(6 / n): 1.08 at 16 and 0.99 at 18.
    #[test]
    fn seeds_are_estimated_from_the_width() {
        let band = Band {
            lo: 10.0,
            hi: f64::INFINITY,
        };
        let alpha = 0.05;
        let found = seeds_needed(Some((7.0, 11.0)), &band, 6, alpha).unwrap();
        let half = |n: u64| {
            2.0 * t_two_sided(alpha, n as usize - 1) / t_two_sided(alpha, 5)
                * (6.0 / n as f64).sqrt()
        };
        assert!(half(found) <= 1.0 && half(found - 1) > 1.0, "{found}");
        assert!((14..=24).contains(&found), "{found}");
        // On the end of the band; without a band; without an interval.
        assert_eq!(seeds_needed(Some((8.0, 12.0)), &band, 6, alpha), None);
        let all = Band {
            lo: f64::NEG_INFINITY,
            hi: f64::INFINITY,
        };
        assert_eq!(seeds_needed(Some((7.0, 11.0)), &all, 6, alpha), None);
        assert_eq!(seeds_needed(None, &band, 6, alpha), None);
        assert_eq!(
            seeds_needed(Some((f64::NEG_INFINITY, 3.0)), &band, 6, alpha),
            None
        );
    }
}
