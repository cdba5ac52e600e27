// SPDX-License-Identifier: MIT OR Apache-2.0
//! Words that people try and that are not near to what is meant: keys of another section, other
//! tools' names. For the help line only; nothing here is accepted.

use cemark_marking::catalogue;

use crate::error::{alike, fold};

/// Where it is written (a section, or the stem of a scheme), what is written, what to write
/// instead. "" means any section.
type Alias = (&'static str, &'static str, &'static str);

const MSS: &str = "packets are mss + header long: write mss = \"8960B\" in [transport] for jumbo \
                   frames (\"1460B\" is the default)";
const TSO: &str = "tso belongs to [host]: write tso = \"64KB\" there";
const GRO: &str = "gro belongs to [host]: write gro = true there";
const PACING: &str =
    "pacing belongs to [host]: write pacing = \"tcp\" (each train) or \"nic\" (each packet) there";
const PRESET: &str = "write preset = \"linux\" in [host]; it sets keys of [transport] too";
const PFC: &str = "write pfc = true in [switch], where all its keys begin with pfc-";
const XOFF: &str = "write pfc-xoff = \"100KB\" for a fixed threshold, or pfc-alpha for one that \
                    follows the free room";
const BOX: &str =
    "write kind = \"dcib\" (two routers) or kind = \"pep\" (split connections) in [edge]";

const WRED: &str = "write min, max, drop-probability and weight (n of 2^-n; 0: the length \
                    itself), as switches have them; marker = \"red\" is Floyd's RED, with kmin, \
                    kmax, pmax, spacing and a weight from 0 to 1";
const RED: &str = "write kmin, kmax and pmax; marker = \"wred\" is a switch's WRED, with min, max \
                   and drop-probability";

const LOSS: &str = "write rate = 0.05: that share of the packets is lost";
const FIGURE: &str =
    "this is a figure's file: run it with `cemark figure NAME`, its name without .toml";

const CE: &str = "CoDel has no second threshold: the scheme tcn marks above its threshold as \
                  ce_threshold does, and ecn_sharp adds CoDel's persistent condition to that \
                  (ins_target is ce_threshold)";

const KEYS: &[Alias] = &[
    ("codel", "ce-threshold", CE),
    ("wred", "kmin", WRED),
    ("wred", "kmax", WRED),
    ("wred", "pmax", WRED),
    ("wred", "spacing", WRED),
    ("wred", "count-self", WRED),
    ("wred", "mean-pkt", WRED),
    ("red", "min", RED),
    ("red", "max", RED),
    ("red", "drop-probability", RED),
    ("[[fault]]", "loss", LOSS),
    ("[[fault]]", "probability", LOSS),
    ("[[fault]]", "drop", LOSS),
    ("the file", "quick", FIGURE),
    ("the file", "variant", FIGURE),
    ("the file", "row", FIGURE),
    ("the file", "why", FIGURE),
    ("the file", "pfc", PFC),
    ("the file", "pep", BOX),
    ("the file", "proxy", BOX),
    ("the file", "dcib", BOX),
    ("the file", "middlebox", BOX),
    ("the file", "rdma", ROCE),
    ("the file", "dcqcn", ROCE),
    ("[transport]", "ai-rate", "write rate-ai = \"40Mbps\""),
    ("[transport]", "hai-rate", "write rate-hai = \"200Mbps\""),
    ("[switch]", "xoff", XOFF),
    (
        "[switch]",
        "xon",
        "write pfc-xon-offset = \"3KB\": how far below XOFF",
    ),
    ("[host]", "gso", TSO),
    ("[host]", "lro", "write gro = true"),
    ("", "tso", TSO),
    ("", "gso", TSO),
    ("", "gro", GRO),
    ("", "lro", GRO),
    ("", "pacing", PACING),
    ("", "preset", PRESET),
    ("", "os", PRESET),
    ("", "mtu", MSS),
    ("", "jumbo", MSS),
];

const ROCE: &str = "write control = \"dcqcn\" in [transport]: queue pairs, as RoCE hosts have them";

/// Advice about words that are no value: the word written, the word meant, the advice. An entry
/// counts where the word meant is allowed.
const VALUES: &[Alias] = &[
    ("roce", "dcqcn", ROCE),
    ("rocev2", "dcqcn", ROCE),
    ("rdma", "dcqcn", ROCE),
    ("linux", "hpcc", PRESET),
    (
        "newreno",
        "reno",
        "write control = \"reno\", which is NewReno",
    ),
    (
        "tail-drop",
        "none",
        "write \"none\": a queue without a marker drops at its tail",
    ),
    (
        "drop-tail",
        "none",
        "write \"none\": a queue without a marker drops at its tail",
    ),
    ("gbn", "go-back-n", "write repair = \"go-back-n\""),
    ("sr", "selective", "write repair = \"selective\""),
    (
        "low-priority",
        "idle",
        "write recovery = \"idle\": copies go out when the link is idle",
    ),
    (
        "sack",
        "bitmap",
        "write acks = \"bitmap\": a router ACK covers the last 64 numbers",
    ),
    ("split", "pep", "write kind = \"pep\""),
    ("proxy", "pep", "write kind = \"pep\""),
];

/// Advice about values that a parameter of a scheme cannot have: the scheme, the parameter, the
/// advice.
const PARAMETERS: &[Alias] = &[("wred", "weight", WEIGHT)];

const WEIGHT: &str = "write a whole number n from 0 to 15: the newest length counts 2^-n, so 0 is \
                      the length itself; RED's weight, from 0 to 1, goes with marker = \"red\"";

/// Advice about a value that this parameter of a scheme cannot have.
pub(crate) fn parameter(scheme: &str, name: &str) -> Option<&'static str> {
    let found = PARAMETERS
        .iter()
        .find(|(owner, parameter, _)| (*owner, *parameter) == (scheme, name));
    found.map(|a| a.2)
}

/// Advice about an unknown key of a section or of a scheme, where it may be a parameter of the
/// research scheme.
pub(crate) fn key(section: &str, written: &str) -> Option<String> {
    let mut all = catalogue::ALL.iter();
    let lab = all.find(|spec| spec.research_of == Some(section));
    if let Some(lab) = lab.filter(|lab| lab.params.iter().any(|p| alike(p.name, written))) {
        return Some(format!(
            "it is of the research scheme {0}: write marker = \"{0}\" in the scenario",
            lab.name
        ));
    }
    let found = KEYS
        .iter()
        .find(|(place, word, _)| [section, ""].contains(place) && fold(word) == fold(written));
    found.map(|a| a.2.to_owned())
}

/// Advice about a word that is none of `words`.
pub(crate) fn value(written: &str, words: &[&str]) -> Option<&'static str> {
    let found = VALUES
        .iter()
        .find(|(word, meant, _)| fold(word) == fold(written) && words.contains(meant));
    found.map(|a| a.2)
}
