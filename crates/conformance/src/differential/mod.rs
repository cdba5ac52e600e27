// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two forms of a scheme on the same random trace: every verdict, every clock and every trait must
//! agree.
//!
//! A trace is a function of its seed alone, on every machine. It is made of episodes: new or
//! changed parameters, then packets of one temper, from a calm queue to fields that have nothing to
//! do with each other. State that no verdict shows is made to show: from time to time both markers
//! are copied and the copies judge packets of their own.

mod source;
mod trace;

use std::collections::VecDeque;

use cemark_marking::{
    At, Hook, Marker, QueueId, QueueSpec, SchemeSpec, Values, Verdict, catalogue,
};
use cemark_wire::Nanos;

use crate::{Error, bpf, c};

use source::Source;
use trace::Episode;

/// What two markers have agreed upon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreed {
    /// Packets judged, those of copies too.
    pub decisions: u64,
    /// How many of them were marked.
    pub marks: u64,
    /// How many were discarded.
    pub drops: u64,
    /// Times that the clock rang.
    pub wakes: u64,
    /// Markers built and changed.
    pub settings: u64,
    /// Fingerprint of all verdicts in order.
    pub digest: u64,
}

/// The first decision on which two markers differ.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "{scheme}, seed {seed}, decision {decision}: {what}: {left} and {right}\nparameters {values:?}\n{queue:?}\nin {at:?}"
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

/// Why two forms of a scheme are not proved equal.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Unequal {
    /// They differ.
    #[error(transparent)]
    Differ(Box<Difference>),
    /// One of them does not exist.
    #[error(transparent)]
    Missing(#[from] Error),
}

/// Rust against C over at least so many decisions.
///
/// # Errors
///
/// With the first difference.
pub fn rust_and_c(spec: &'static SchemeSpec, seed: u64, decisions: u64) -> Result<Agreed, Unequal> {
    let twin = c::twin(spec.name)?;
    compare(spec, seed, decisions, |v, q| Ok(twin.marker(v, q)?))
}

/// Rust against BPF bytecode.
///
/// # Errors
///
/// With the first difference.
pub fn rust_and_bpf(
    spec: &'static SchemeSpec,
    seed: u64,
    decisions: u64,
) -> Result<Agreed, Unequal> {
    let twin = bpf::twin(spec.name)?;
    compare(spec, seed, decisions, |v, q| Ok(twin.marker(v, q)?))
}

/// Compares the catalogue's marker with what `other` builds.
///
/// # Errors
///
/// With the first difference.
pub fn compare<M: Marker + Clone>(
    spec: &'static SchemeSpec,
    seed: u64,
    decisions: u64,
    other: impl Fn(&Values, &QueueSpec) -> Result<M, Unequal>,
) -> Result<Agreed, Unequal> {
    let mut source = Source::new(seed);
    let mut pair = None;
    let mut agreed = Agreed::default();
    while agreed.decisions < decisions {
        let mut episode = Episode::draw(spec, &mut source);
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
                episode.go_on(from);
                Pair { rust, twin }
            }
            _ => Pair {
                rust: catalogue::build(spec, &episode.values, &episode.queue),
                twin: other(&episode.values, &episode.queue)?,
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
            "clock",
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

/// Two markers that have seen the same.
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

/// What a port asks a marker when it is built.
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
                "clock",
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

/// One packet at one hook, and the clock before it.
fn one<A: Marker, B: Marker>(
    pair: &mut Pair<A, B>,
    episode: &mut Episode,
    source: &mut Source,
    context: &Context,
    agreed: &mut Agreed,
    hook: Hook,
    waiting: &mut VecDeque<Option<cemark_marking::Why>>,
) -> Result<(), Unequal> {
    // No packet is judged past a bell: time stops there.
    if let Some(due) = pair.rust.next_wake().filter(|due| due.0 <= episode.now()) {
        episode.back_to(due.0);
        let at = episode.view();
        pair.rust.wake(&at);
        pair.twin.wake(&at);
        agreed.wakes += 1;
        context.same(
            agreed,
            "clock",
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
        .wrapping_mul(0x0100_0000_01b3)
        .rotate_left(7);
    Ok(())
}
