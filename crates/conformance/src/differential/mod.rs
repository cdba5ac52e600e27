// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two implementations of a scheme on the same random trace: every verdict, every timer and every
//! trait must agree.
//!
//! A trace depends on nothing but its seed. It consists of episodes. An episode has new or changed
//! parameters and packets of one pattern, from a calm queue to unrelated random fields. From time
//! to time both markers are copied, and the copies judge packets far in the future, so that a
//! difference in state shows in a verdict.

mod source;
mod trace;

use std::collections::VecDeque;

use cemark_foreign::{Code, Error, Foreign};
use cemark_marking::{
    At, Hook, Marker, ParamSpec, QueueId, QueueSpec, SchemeSpec, Values, Verdict, catalogue,
};
use cemark_wire::{Nanos, hash::Fnv1a};

use source::Source;
use trace::Episode;

/// How much two markers were compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreed {
    /// Packets judged, including those of copies.
    pub decisions: u64,
    /// How many of them were marked.
    pub marks: u64,
    /// How many of them were dropped.
    pub drops: u64,
    /// Timer wake-ups.
    pub wakes: u64,
    /// Markers built or given new parameters.
    pub settings: u64,
    /// Hash of all verdicts in order.
    pub digest: u64,
}

/// The first decision on which two markers differ.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "{scheme}, seed {seed}, decision {decision}: {what}: {left} and {right}\n\
     parameters {values:?}\n\
     {queue:?}\n\
     at {at:?}"
)]
#[allow(missing_docs)] // named as they are printed
pub struct Difference {
    pub scheme: &'static str,
    pub seed: u64,
    pub decision: u64,
    pub what: &'static str,
    pub left: String,
    pub right: String,
    pub values: Values,
    pub queue: QueueSpec,
    pub at: At,
}

/// Why two implementations of a scheme were not found equal.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Unequal {
    /// They differ.
    #[error(transparent)]
    Differ(Box<Difference>),
    /// A form of the scheme does not exist.
    #[error(transparent)]
    Missing(#[from] Error),
}

/// Compares the catalogue's marker with another form over at least this many decisions.
///
/// # Errors
///
/// The first difference, or a violation of the interface.
pub fn rust_and(
    code: &impl Code,
    spec: &'static SchemeSpec,
    seed: u64,
    decisions: u64,
) -> Result<Agreed, Unequal> {
    rust_and_with(code, spec, seed, decisions, |_| false)
}

/// Compares as [`rust_and`], with the parameters that `fixed` names at their defaults, so that code
/// which runs only then is compared in every episode.
///
/// # Errors
///
/// As [`rust_and`].
pub fn rust_and_with(
    code: &impl Code,
    spec: &'static SchemeSpec,
    seed: u64,
    decisions: u64,
    fixed: fn(&ParamSpec) -> bool,
) -> Result<Agreed, Unequal> {
    let mut source = Source::new(seed);
    let mut pair = None;
    let mut agreed = Agreed::default();
    while agreed.decisions < decisions {
        let mut episode = Episode::draw(spec, fixed, &mut source);
        let mut context = Context {
            spec,
            seed,
            values: episode.values,
            queue: episode.queue,
        };
        agreed.settings += 1;
        let mut markers = match pair.take() {
            Some((mut rust, mut twin, from)) if source.one_in(2) => {
                Marker::retune(&mut rust, &episode.values, &episode.queue);
                Marker::retune(&mut twin, &episode.values, &episode.queue);
                episode.continue_from(from);
                Pair { rust, twin }
            }
            _ => Pair {
                rust: catalogue::build(spec, &episode.values, &episode.queue),
                twin: Foreign::new(code.clone(), &episode.values, &episode.queue)?,
            },
        };
        let idle = episode.view();
        context.same(
            &agreed,
            "traits",
            traits(&markers.rust),
            traits(&markers.twin),
            &idle,
        )?;
        context.same(
            &agreed,
            "timer",
            markers.rust.next_wake(),
            markers.twin.next_wake(),
            &idle,
        )?;
        play(
            &mut markers,
            &mut episode,
            &mut source,
            &mut context,
            &mut agreed,
        )?;
        pair = Some((markers.rust, markers.twin, episode.now()));
    }
    Ok(agreed)
}

/// Two markers that have seen the same packets.
#[derive(Clone)]
struct Pair<A, B> {
    rust: A,
    twin: B,
}

struct Context {
    spec: &'static SchemeSpec,
    seed: u64,
    values: Values,
    queue: QueueSpec,
}

impl Context {
    #[inline]
    fn same<T: PartialEq + std::fmt::Debug>(
        &self,
        agreed: &Agreed,
        what: &'static str,
        left: T,
        right: T,
        at: &At,
    ) -> Result<(), Unequal> {
        if left == right {
            return Ok(());
        }
        Err(Unequal::Differ(Box::new(Difference {
            scheme: self.spec.name,
            seed: self.seed,
            decision: agreed.decisions,
            what,
            left: format!("{left:?}"),
            right: format!("{right:?}"),
            values: self.values,
            queue: self.queue,
            at: *at,
        })))
    }
}

/// Answers of a marker to the questions that a port asks when it is built.
fn traits(m: &impl Marker) -> (Hook, bool, bool, bool, bool) {
    (
        m.hook(),
        m.reads_length_at_dequeue(),
        m.watches_empty(),
        m.draws(),
        m.keeps_time(),
    )
}

/// Packets of one episode.
fn play<A: Marker + Clone, B: Marker + Clone>(
    pair: &mut Pair<A, B>,
    episode: &mut Episode,
    source: &mut Source,
    context: &mut Context,
    agreed: &mut Agreed,
) -> Result<(), Unequal> {
    let hook = pair.rust.hook();
    let mut waiting = VecDeque::new();
    for n in 0..episode.packets {
        episode.step(source);
        one(pair, episode, source, context, agreed, hook, &mut waiting)?;
        if source.one_in(64) && pair.rust.watches_empty() {
            let now = Nanos(episode.now());
            pair.rust.emptied(QueueId(0), now);
            pair.twin.emptied(QueueId(0), now);
            context.same(
                agreed,
                "timer",
                pair.rust.next_wake(),
                pair.twin.next_wake(),
                &episode.view(),
            )?;
        }
        if n % 128 == 127 {
            let (mut copies, mut future) = (pair.clone(), episode.clone());
            for _ in 0..8 {
                future.leap(source);
                one(
                    &mut copies,
                    &mut future,
                    source,
                    context,
                    agreed,
                    hook,
                    &mut waiting.clone(),
                )?;
            }
        }
    }
    Ok(())
}

/// Judges a packet at one hook, after the timer that is due.
fn one<A: Marker, B: Marker>(
    pair: &mut Pair<A, B>,
    episode: &mut Episode,
    source: &mut Source,
    context: &Context,
    agreed: &mut Agreed,
    hook: Hook,
    waiting: &mut VecDeque<Option<cemark_marking::Why>>,
) -> Result<(), Unequal> {
    // A timer that is due runs first, at its own time.
    if let Some(due) = pair.rust.next_wake().filter(|due| due.0 <= episode.now()) {
        episode.back_to(due.0);
        let at = episode.view();
        pair.rust.wake(&at);
        pair.twin.wake(&at);
        agreed.wakes += 1;
        context.same(
            agreed,
            "timer",
            pair.rust.next_wake(),
            pair.twin.next_wake(),
            &at,
        )?;
    }
    let mut at = episode.view();
    let joins = match hook {
        Hook::Enqueue => true,
        Hook::Dequeue => false,
        Hook::Both => waiting.is_empty() || (waiting.len() < 64 && source.one_in(2)),
    };
    let (left, right) = if joins {
        (pair.rust.enqueue(&at), pair.twin.enqueue(&at))
    } else {
        at.intent = waiting.pop_front().flatten();
        (pair.rust.dequeue(&at), pair.twin.dequeue(&at))
    };
    context.same(agreed, "verdict", left, right, &at)?;
    context.same(
        agreed,
        "clock",
        pair.rust.next_wake(),
        pair.twin.next_wake(),
        &at,
    )?;
    if joins && hook == Hook::Both {
        waiting.push_back(match left {
            Verdict::Mark(why) => Some(why),
            _ => None,
        });
    }
    agreed.decisions += 1;
    let word = match left {
        Verdict::Pass => 0,
        Verdict::Mark(why) => {
            agreed.marks += 1;
            1 + u64::from(why as u8)
        }
        Verdict::Drop(why) => {
            agreed.drops += 1;
            0x80 + u64::from(why as u8)
        }
    };
    agreed.digest = (agreed.digest ^ word)
        .wrapping_mul(Fnv1a::PRIME)
        .rotate_left(7);
    Ok(())
}
