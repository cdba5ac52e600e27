// SPDX-License-Identifier: MIT OR Apache-2.0
//! The scenarios that come with cemark: the files under `scenarios/`.

/// A scenario that comes with cemark.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// The name that `cemark run` takes.
    pub name: &'static str,
    /// The file's text.
    pub text: &'static str,
}

impl Builtin {
    /// The file's `title`.
    pub fn title(&self) -> String {
        let table = self.text.parse::<toml::Table>().unwrap_or_default();
        table
            .get("title")
            .and_then(|t| t.as_str())
            .unwrap_or(self.name)
            .to_owned()
    }

    /// Whether it measures speed (`cemark bench`) and answers no question about marking.
    pub fn is_bench(&self) -> bool {
        BENCHES.iter().any(|b| b.name == self.name)
    }
}

macro_rules! files {
    ($($name:literal in $folder:literal),* $(,)?) => {
        &[$(Builtin {
            name: $name,
            text: include_str!(concat!("../../../scenarios/", $folder, $name, ".toml")),
        }),*]
    };
}

/// Scenarios that answer a question.
pub const SCENARIOS: &[Builtin] =
    files!["rtt-variation" in "", "wide-area" in "", "roce-100g" in "", "mixed-roce-tcp" in ""];

/// Scenarios that measure speed and memory.
pub const BENCHES: &[Builtin] = files![
    "leafspine-128" in "bench/",
    "leafspine-128-100g" in "bench/",
    "incast-128" in "bench/",
    "fattree-432" in "bench/",
    "leafspine-1024" in "bench/",
    "fattree-3456" in "bench/",
    "fattree-11664" in "bench/",
    "websearch-128" in "bench/",
    "dwrr-128" in "bench/",
    "wide-15" in "bench/",
    "dcqcn-128" in "bench/",
    "dcqcn-128-pfc" in "bench/",
];

/// All of them, those that answer a question first.
pub fn builtins() -> impl Iterator<Item = &'static Builtin> {
    SCENARIOS.iter().chain(BENCHES)
}

/// The one of this name.
pub fn builtin(name: &str) -> Option<&'static Builtin> {
    builtins().find(|b| b.name == name)
}
