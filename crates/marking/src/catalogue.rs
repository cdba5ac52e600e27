// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of schemes. A new scheme is one file, its `pub mod` line in `lib.rs` and one line
//! here.

use crate::{QueueSpec, SchemeSpec, Values, dispatch_marker};

macro_rules! catalogue {
    ($($Scheme:ident in $module:ident),+ $(,)?) => {
        /// A marker of the catalogue, dispatched by a match.
        #[derive(Clone, Copy, Debug)]
        pub enum Builtin {
            $(
                #[doc = concat!("See [`mod@crate::", stringify!($module), "`].")]
                $Scheme(crate::$module::$Scheme)
            ),+
        }

        dispatch_marker! { Builtin { $($Scheme(m) => m),+ } }

        /// Every scheme, in the order in which it is shown to people.
        pub static ALL: &[&SchemeSpec] = &[$(&crate::$module::SPEC),+];

        /// A marker of the scheme `spec`, which [`find`] or [`ALL`] gave. Panics on any other.
        pub fn build(spec: &SchemeSpec, params: &Values, queue: &QueueSpec) -> Builtin {
            $(if spec.name == crate::$module::SPEC.name {
                let config = params.into();
                return Builtin::$Scheme(crate::$module::$Scheme::from_config(config, queue));
            })+
            panic!("{} is not in the catalogue", spec.name)
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
    EcnSharpLab in ecn_sharp_lab,
}

/// The schemes that data planes have: all but those for research.
pub fn deployed() -> impl Iterator<Item = &'static SchemeSpec> {
    ALL.iter()
        .copied()
        .filter(|spec| spec.research_of.is_none())
}

/// The scheme called `name`: its stem, title or an alias. Upper and lower case are the same, and so
/// are `-` and `_`.
pub fn find(name: &str) -> Option<&'static SchemeSpec> {
    ALL.iter().copied().find(|spec| {
        same(spec.name, name)
            || same(spec.title, name)
            || spec.aliases.iter().any(|a| same(a, name))
    })
}

/// Whether two names are the same, but for case and for `-` and `_`.
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
            ("ECN# lab", "ecn_sharp_lab"),
            ("ecnsharp-lab", "ecn_sharp_lab"),
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
