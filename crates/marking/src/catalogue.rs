// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of schemes. A new scheme is one file, its `pub mod` line in `lib.rs` and one line
//! here.

use cemark_wire::Nanos;

use crate::{At, Hook, Marker, QueueId, QueueSpec, Quiet, SchemeSpec, Values, Verdict};
use crate::{
    cedm, cedm_sharp, codel, dynamic, ecn_sharp, mq_ecn, pi, pie, red, tcn, threshold, wred,
};

macro_rules! catalogue {
    ($($Scheme:ident in $module:ident),+ $(,)?) => {
        /// One of the schemes of the catalogue, dispatched by a match: no table of functions, no
        /// allocation.
        #[derive(Clone, Copy, Debug)]
        pub enum Builtin { $(#[doc = concat!("See [`mod@", stringify!($module), "`].")] $Scheme($module::$Scheme)),+ }

        /// Every scheme, in the order in which it is shown to people.
        pub static ALL: &[&SchemeSpec] = &[$(&$module::SPEC),+];

        /// A marker of the scheme `spec`, which [`find`] or [`ALL`] gave. Panics on any other.
        pub fn build(spec: &SchemeSpec, params: &Values, queue: &QueueSpec) -> Builtin {
            $(if spec.name == $module::SPEC.name { return Builtin::$Scheme($module::$Scheme::from_config(params.into(), queue)); })+
            panic!("{} is not in the catalogue", spec.name)
        }

        impl Marker for Builtin {
            #[inline] fn hook(&self) -> Hook { match self { $(Builtin::$Scheme(m) => m.hook()),+ } }
            #[inline] fn reads_length_at_dequeue(&self) -> bool { match self { $(Builtin::$Scheme(m) => m.reads_length_at_dequeue()),+ } }
            fn watches_empty(&self) -> bool { match self { $(Builtin::$Scheme(m) => m.watches_empty()),+ } }
            fn quiet_below(&self, mtu: u32) -> u32 { match self { $(Builtin::$Scheme(m) => m.quiet_below(mtu)),+ } }
            fn quiet_by_round(&self) -> Quiet { match self { $(Builtin::$Scheme(m) => m.quiet_by_round()),+ } }
            #[inline] fn quiet_sojourn(&self) -> Nanos { match self { $(Builtin::$Scheme(m) => m.quiet_sojourn()),+ } }
            fn draws(&self) -> bool { match self { $(Builtin::$Scheme(m) => m.draws()),+ } }
            #[inline(always)] fn enqueue(&mut self, at: &At) -> Verdict { match self { $(Builtin::$Scheme(m) => m.enqueue(at)),+ } }
            #[inline(always)] fn dequeue(&mut self, at: &At) -> Verdict { match self { $(Builtin::$Scheme(m) => m.dequeue(at)),+ } }
            #[inline] fn emptied(&mut self, queue: QueueId, now: Nanos) { match self { $(Builtin::$Scheme(m) => m.emptied(queue, now)),+ } }
            fn retune(&mut self, params: &Values, queue: &QueueSpec) { match self { $(Builtin::$Scheme(m) => m.retune(params, queue)),+ } }
            fn keeps_time(&self) -> bool { match self { $(Builtin::$Scheme(m) => m.keeps_time()),+ } }
            fn next_wake(&self) -> Option<Nanos> { match self { $(Builtin::$Scheme(m) => m.next_wake()),+ } }
            fn wake(&mut self, at: &At) { match self { $(Builtin::$Scheme(m) => m.wake(at)),+ } }
        }
    };
}

catalogue! {
    Threshold in threshold,
    Red in red,
    Tcn in tcn,
    Codel in codel,
    EcnSharp in ecn_sharp,
    MqEcn in mq_ecn,
    Cedm in cedm,
    Dynamic in dynamic,
    Pie in pie,
    Pi in pi,
    CedmSharp in cedm_sharp,
    Wred in wred,
}

/// The scheme that people call `name`: its stem, title or an alias, in any case, with `-` and `_`
/// alike.
pub fn find(name: &str) -> Option<&'static SchemeSpec> {
    ALL.iter().copied().find(|spec| {
        same(spec.name, name)
            || same(spec.title, name)
            || spec.aliases.iter().any(|a| same(a, name))
    })
}

/// Whether two names are one to people.
fn same(a: &str, b: &str) -> bool {
    let fold = |c: u8| {
        if c == b'_' {
            b'-'
        } else {
            c.to_ascii_lowercase()
        }
    };
    a.bytes().map(fold).eq(b.bytes().map(fold))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_find_schemes_by_any_of_their_names() {
        for (said, stem) in [
            ("ECN#", "ecn_sharp"),
            ("ecn-sharp", "ecn_sharp"),
            ("EcnSharp", "ecn_sharp"),
            ("step", "threshold"),
            ("dctcp-red", "threshold"),
            ("DCTCP_RED", "threshold"),
            ("red", "red"),
            ("wred", "wred"),
            ("random-detect", "wred"),
            ("latency_ecn", "tcn"),
            ("latency-ecn", "tcn"),
            ("CoDel", "codel"),
            ("MQ-ECN", "mq_ecn"),
            ("slope-ecn", "cedm"),
            ("D-ECN", "dynamic"),
            ("PIE", "pie"),
            ("pi", "pi"),
            ("CEDM x ECN#", "cedm_sharp"),
        ] {
            assert_eq!(find(said).map(|s| s.name), Some(stem), "{said}");
        }
        assert!(find("").is_none());
        assert!(find("ecn").is_none());
    }

    #[test]
    fn no_two_schemes_share_a_name() {
        for (i, spec) in ALL.iter().enumerate() {
            for name in [spec.name, spec.title].iter().chain(spec.aliases) {
                assert_eq!(find(name).map(|s| s.name), Some(ALL[i].name), "{name}");
            }
        }
    }

    #[test]
    fn a_marker_fits_a_cache_line() {
        let bytes = size_of::<Builtin>();
        assert!(bytes <= 64, "{bytes} bytes: the largest scheme may have 56");
    }
}
