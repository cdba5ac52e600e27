// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replays golden vectors on the P4 programs: each packet goes through the shipped source beside
//! two Rust models, that of the same arithmetic and the ideal one.

use std::sync::{Arc, Mutex};

use cemark_marking::{
    At, Hook, Kind, Marker, QueueId, QueueSpec, SchemeSpec, Values, Verdict, Why, catalogue,
    ecn_sharp, ecn_sharp_lab,
};
use cemark_p4::testbed::{Passage, Testbed};
use cemark_p4::{Defines, Rounding, control, sources};
use cemark_vectors::{Vector, Vectors};
use cemark_wire::{Ecn, Nanos};

/// The result of replaying a file on a P4 program.
#[derive(Clone, Debug, Default)]
pub struct OnP4 {
    /// Cases and traces that the program can run.
    pub cases: u64,
    /// Packets judged.
    pub packets: u64,
    /// Packets that the program marks.
    pub marks: u64,
    /// Packets that the ideal rule marks, in nanoseconds and exact quotients.
    pub ideal: u64,
    /// The first packet of the file that the two do not mark alike: its case and its number.
    pub first: Option<(String, u64)>,
    /// Each case in which the program does not do what the Rust model of its arithmetic does.
    pub differ: Vec<String>,
    /// Cases that the program cannot run: name and reason.
    pub left_out: Vec<(String, String)>,
}

/// Results of a case.
#[derive(Debug, Default)]
struct Tally {
    packets: u64,
    marks: u64,
    ideal: u64,
    first: Option<u64>,
    wrong: Option<String>,
}

/// Judges every packet of a file with the scheme's P4 program. None if the scheme has none.
///
/// # Errors
///
/// Where the file is not in the format of `vectors/README.md`, or a program is wrong.
pub fn replay_p4(vectors: &Vectors, rounding: Rounding) -> Result<Option<OnP4>, String> {
    if !has_program(vectors.scheme) {
        return Ok(None);
    }
    let mut on = OnP4::default();
    for vector in vectors.parse()? {
        match left_out(vectors.scheme, &vector) {
            Some(why) => on.left_out.push((vector.name().to_owned(), why)),
            None => on.add(vectors.scheme, &vector, rounding)?,
        }
    }
    Ok(Some(on))
}

impl OnP4 {
    /// Runs a case or a trace.
    fn add(
        &mut self,
        scheme: &'static SchemeSpec,
        vector: &Vector,
        rounding: Rounding,
    ) -> Result<(), String> {
        let tally = Arc::new(Mutex::new(Tally::default()));
        let make = |params: &Values, queue: &QueueSpec| {
            let beside = Beside::new(scheme, params, queue, rounding, Arc::clone(&tally))?;
            Ok(Box::new(beside) as Box<dyn Marker>)
        };
        let outcome = vector.replay(make, |why| why)?;
        let tally = tally.lock().expect("no packet panicked");
        self.cases += 1;
        self.packets += tally.packets;
        self.marks += tally.marks;
        self.ideal += tally.ideal;
        if let (None, Some(packet)) = (&self.first, tally.first) {
            self.first = Some((vector.name().to_owned(), packet));
        }
        if let Some(wrong) = tally.wrong.clone().or(outcome.differs) {
            self.differ.push(format!("{}: {wrong}", vector.name()));
        }
        Ok(())
    }
}

/// Schemes with a program in `dataplane/p4` that decides as the vectors say. The lengths of a
/// Tofino are cells, and so DCTCP-RED and CEDM cannot.
fn has_program(scheme: &SchemeSpec) -> bool {
    ONLY.iter().any(|(name, _)| *name == scheme.name)
}

/// Parameters whose value is the default, or the program decides something else.
const ONLY: &[(&str, &[&str])] = &[
    (ecn_sharp::SPEC.name, &["signal", "instant", "hook"]),
    (
        ecn_sharp_lab::SPEC.name,
        &[
            "signal",
            "instant",
            "hook",
            "law",
            "base",
            "cmp",
            "reset_on_empty",
            "max_catchup",
            "by_round",
        ],
    ),
    ("tcn", &[]),
];

/// Why the program cannot run a case or a trace.
fn left_out(scheme: &SchemeSpec, vector: &Vector) -> Option<String> {
    if vector.retunes() {
        let why = "the interval is compiled into the program, and cannot be retuned";
        return Some(why.to_owned());
    }
    if vector.longest_sojourn() > u32::MAX.into() {
        return Some("sojourn times of the program end at 2^32 ns".to_owned());
    }
    let params = &vector.params;
    let (_, only) = ONLY.iter().find(|(name, _)| *name == scheme.name)?;
    for name in *only {
        let index = scheme.index_of(name)?;
        if params.0[index] != scheme.params[index].default {
            let word = match scheme.params[index].kind {
                Kind::Choice(words) => words[params.0[index] as usize].to_owned(),
                _ => params.0[index].to_string(),
            };
            return Some(format!("the program has no {name} = {word}"));
        }
    }
    let arithmetic = scheme.index_of("arithmetic").map(|i| params.0[i]);
    arithmetic
        .is_some_and(|a| a > 1)
        .then(|| "the program has the corrected listings, not the printed ones".to_owned())
}

/// The program with two models beside it. It answers as the model that the case asks for, so that
/// the case finds what it wants; the program is compared packet by packet.
struct Beside {
    switch: Testbed,
    /// The Rust model in the program's arithmetic.
    same: Box<dyn Marker>,
    ideal: Box<dyn Marker>,
    asks_ideal: bool,
    tally: Arc<Mutex<Tally>>,
}

impl Beside {
    fn new(
        scheme: &'static SchemeSpec,
        params: &Values,
        queue: &QueueSpec,
        rounding: Rounding,
        tally: Arc<Mutex<Tally>>,
    ) -> Result<Self, String> {
        let get = |name: &str| scheme.index_of(name).map_or(0, |i| params.0[i]);
        // The laboratory of ECN# has its parameters in their places, and a choice of arithmetic.
        let model = match scheme.name == ecn_sharp::SPEC.name {
            true => &ecn_sharp_lab::SPEC,
            false => scheme,
        };
        let with = |arithmetic| {
            let values = params.with(model, "arithmetic", arithmetic);
            Box::new(catalogue::build(model, &values.unwrap_or(*params), queue))
        };
        let mut defines = Defines::new();
        if scheme.index_of("pst_interval").is_some() {
            defines = control::Interval::new(get("pst_interval") as u32, rounding).defines();
        }
        for param in scheme.params {
            if matches!(param.name, "ins_target" | "pst_target" | "threshold") {
                defines.insert(param.name.to_uppercase(), get(param.name).to_string());
            }
        }
        let name = format!("{}.p4", scheme.research_of.unwrap_or(scheme.name));
        let program = sources::program(&name, &defines);
        let program = program.map_err(|e| format!("dataplane/p4/{name}: {e}"))?;
        let mut switch = Testbed::new(program);
        switch.machine().set_rounding(rounding);
        Ok(Beside {
            switch,
            same: with(1),
            ideal: with(0),
            asks_ideal: get("arithmetic") == 0,
            tally,
        })
    }
}

fn ecn(field: Ecn) -> u8 {
    match field {
        Ecn::NotEct => 0,
        Ecn::Ect1 => 1,
        Ecn::Ect0 => 2,
        Ecn::Ce => 3,
    }
}

fn why(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Pass => 0,
        Verdict::Mark(Why::Persistent) => 2,
        Verdict::Mark(Why::Tentative) => 3,
        Verdict::Mark(_) | Verdict::Drop(_) => 1,
    }
}

impl Marker for Beside {
    fn hook(&self) -> Hook {
        self.same.hook()
    }

    fn dequeue(&mut self, at: &At) -> Verdict {
        let (same, ideal) = (self.same.dequeue(at), self.ideal.dequeue(at));
        let now = at.now.0;
        let passage = Passage {
            ecn: ecn(at.ecn),
            bytes: at.pkt_bytes,
            ..Passage::new(now.wrapping_sub(at.sojourn.0), now)
        };
        let mut tally = self.tally.lock().expect("no packet panicked");
        tally.packets += 1;
        tally.ideal += u64::from(ideal != Verdict::Pass);
        let packet = tally.packets;
        let wrong = match self.switch.pass(&passage) {
            Err(error) => Some(error),
            Ok(came) => {
                tally.marks += u64::from(came.why != 0);
                if (came.why != 0) != (ideal != Verdict::Pass) {
                    tally.first.get_or_insert(packet);
                }
                let marked = came.why != 0 && passage.ecn != 0;
                let field = if marked { 3 } else { passage.ecn };
                if came.why != why(same) {
                    Some(format!("the model says {same:?}, the program {}", came.why))
                } else if came.ecn != field {
                    Some(format!("ECN wants {field:02b}, came {:02b}", came.ecn))
                } else {
                    None
                }
            }
        };
        if let Some(wrong) = wrong {
            tally
                .wrong
                .get_or_insert(format!("packet {packet} at {now}: {wrong}"));
        }
        if self.asks_ideal { ideal } else { same }
    }

    fn emptied(&mut self, queue: QueueId, now: Nanos) {
        self.same.emptied(queue, now);
        self.ideal.emptied(queue, now);
    }
}
