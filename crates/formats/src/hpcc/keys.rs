// SPDX-License-Identifier: MIT OR Apache-2.0
//! The keys of `config.txt`: every key that HPCC's simulator reads, some of its descendants, and
//! what becomes of each. A key that is not in the table is named in a note.

/// How an import treats a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// A key of the scenario has its value.
    Mapped(&'static str),
    /// Some values are what the scenario does anyway. Another one is named in a note, with what it
    /// would change, or refused.
    Judged,
    /// The key acts only where the named key does, whose note or refusal speaks for both.
    With(&'static str),
    /// Paths of files, and what is measured and written: nothing of the simulation.
    Output,
    /// A parameter of controllers that are not imported.
    Controller(&'static str),
    /// The simulator reads it and uses it nowhere.
    Unused,
    /// A key of the first simulator of DCQCN, whose configurations are refused: what HPCC's has in
    /// its place.
    Older(&'static str),
}

/// Every known key, and what becomes of it.
pub static KEYS: &[(&str, Fate)] = &[
    // How switches mark.
    ("ENABLE_QCN", Fate::Mapped("marker")),
    ("KMIN_MAP", Fate::Mapped("min")),
    ("KMAX_MAP", Fate::Mapped("max")),
    ("PMAX_MAP", Fate::Mapped("drop-probability")),
    // Buffers and pauses.
    ("BUFFER_SIZE", Fate::Mapped("pool")),
    ("ENABLE_PFC", Fate::Mapped("pfc")),
    ("PAUSE_TIME", Fate::Judged),
    ("USE_DYNAMIC_PFC_THRESHOLD", Fate::Unused),
    // How hosts react.
    ("CC_MODE", Fate::Mapped("control")),
    ("RATE_AI", Fate::Mapped("rate-ai")),
    ("RATE_HAI", Fate::Mapped("rate-hai")),
    ("MIN_RATE", Fate::Mapped("min-rate")),
    ("EWMA_GAIN", Fate::Mapped("dcqcn-g")),
    ("ALPHA_RESUME_INTERVAL", Fate::Mapped("alpha-timer")),
    ("RATE_DECREASE_INTERVAL", Fate::Mapped("decrease-interval")),
    ("RP_TIMER", Fate::Mapped("rate-timer")),
    ("FAST_RECOVERY_TIMES", Fate::Mapped("fast-recovery")),
    ("CLAMP_TARGET_RATE", Fate::Mapped("clamp-target")),
    ("HAS_WIN", Fate::Mapped("receive-window")),
    ("GLOBAL_T", Fate::Judged),
    ("VAR_WIN", Fate::Mapped("window-by-rate")),
    ("RATE_BOUND", Fate::Judged),
    ("DCTCP_RATE_AI", Fate::Judged),
    ("PACKET_PAYLOAD_SIZE", Fate::Mapped("mss")),
    ("L2_ACK_INTERVAL", Fate::Mapped("ack-every")),
    ("L2_BACK_TO_ZERO", Fate::Judged),
    ("L2_CHUNK_SIZE", Fate::With("L2_BACK_TO_ZERO")),
    ("ACK_HIGH_PRIO", Fate::Judged),
    ("ENABLE_IRN", Fate::Judged),
    ("LB_MODE", Fate::Judged),
    ("FAST_REACT", Fate::Controller("HPCC")),
    ("U_TARGET", Fate::Controller("HPCC")),
    ("MI_THRESH", Fate::Controller("HPCC")),
    ("INT_MULTI", Fate::Controller("HPCC")),
    ("MULTI_RATE", Fate::Controller("HPCC")),
    ("SAMPLE_FEEDBACK", Fate::Controller("HPCC")),
    ("PINT_LOG_BASE", Fate::Controller("HPCC-PINT")),
    ("PINT_PROB", Fate::Controller("HPCC-PINT")),
    // Links, and the end.
    ("ERROR_RATE_PER_LINK", Fate::Judged),
    ("LINK_DOWN", Fate::Judged),
    ("DATA_RATE", Fate::Unused),
    ("LINK_DELAY", Fate::Unused),
    ("SIMULATOR_STOP_TIME", Fate::Mapped("max-time")),
    // Files, and what is written.
    ("TOPOLOGY_FILE", Fate::Output),
    ("FLOW_FILE", Fate::Output),
    ("TRACE_FILE", Fate::Output),
    ("TRACE_OUTPUT_FILE", Fate::Output),
    ("ENABLE_TRACE", Fate::Output),
    ("FCT_OUTPUT_FILE", Fate::Output),
    ("PFC_OUTPUT_FILE", Fate::Output),
    ("QLEN_MON_FILE", Fate::Output),
    ("QLEN_MON_START", Fate::Output),
    ("QLEN_MON_END", Fate::Output),
    ("TRACE_NODE", Fate::Output),
    // Before HPCC.
    ("CNP_INTERVAL", Fate::Older("RATE_DECREASE_INTERVAL")),
    ("DCTCP_GAIN", Fate::Older("EWMA_GAIN")),
    ("KMIN", Fate::Older("KMIN_MAP")),
    ("KMAX", Fate::Older("KMAX_MAP")),
    ("PMAX", Fate::Older("PMAX_MAP")),
];

/// How an import treats a key. In every descendant of the simulator a name that ends
/// in `_FILE` is a path, and one with `MON_` in it says when something is written.
pub fn fate(key: &str) -> Option<Fate> {
    let known = KEYS.iter().find(|(name, _)| *name == key);
    match known {
        Some((_, fate)) => Some(*fate),
        None => (key.ends_with("_FILE") || key.contains("MON_")).then_some(Fate::Output),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_listed_once_and_speaks_for_itself() {
        for (i, (key, fate)) in KEYS.iter().enumerate() {
            assert!(KEYS[..i].iter().all(|(other, _)| other != key), "{key}");
            if let Fate::With(other) = fate {
                let found = KEYS.iter().find(|(name, _)| name == other);
                assert!(matches!(found, Some((_, Fate::Judged))), "{key}: {other}");
            }
        }
        assert_eq!(fate("CNP_OUTPUT_FILE"), Some(Fate::Output));
        assert_eq!(fate("BW_MON_INTERVAL"), Some(Fate::Output));
        assert_eq!(fate("MY_KNOB"), None);
    }
}
