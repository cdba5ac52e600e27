// SPDX-License-Identifier: MIT OR Apache-2.0
//! Circles of modules. Modules that `use` each other can only be read and changed together.
//!
//! The modules of a folder are its files and its folders. A module uses another module of its
//! folder where any file of it names a path into that module; a path through a re-export counts
//! for the module that has the item. A folder's own file (`mod.rs`, `lib.rs`) belongs to all
//! modules of the folder and is in no circle with them. Tests do not count, and neither do calls of
//! methods, which name no module.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::names::{Module, Path, read};

/// Circles that the tree still has. The list may only shrink.
const ALLOWED: &[&str] = &[
    "crates/cli/src/testbed: beside run",
    "crates/figures/src: answer chart figure judge looking render result run",
    "crates/figures/src/paper: draw published",
    "crates/foreign/src: config gathered",
    "crates/foreign/src/bpf: elf verify vm",
    "crates/p4/src/run: arith machine",
    "crates/param/src: spec values",
    "crates/report/src: comparison metrics rundir summary",
    "crates/runner/src: looks stop",
    "crates/scenario/src: check read sections",
    "crates/scenario/src/check: limits sense warn",
    "crates/scenario/src/cost: endless flows memory",
    "crates/scenario/src/read: key section",
    "crates/scenario/src/read: rtts sizes",
    "crates/scenario/src/read/rtts: buckets column",
    "crates/scenario/src/sections: host preset",
    "crates/scenario/src/sections: classes pfc switch",
    "crates/transport/src: cc config rdma segment tcp",
];

/// Fails on a circle of modules that is not in [`ALLOWED`], and on one there that is gone.
pub(crate) fn check() -> Result<(), String> {
    let mut crates: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for file in crate::tree::files()? {
        if let Some((root, path)) = file.split_once("src/")
            && path.ends_with(".rs")
        {
            let text = fs::read_to_string(&file).map_err(|e| format!("{file}: {e}"))?;
            let files = crates.entry(format!("{root}src")).or_default();
            files.push((path.to_owned(), text));
        }
    }
    let all = crates.iter().flat_map(|(root, files)| circles(root, files));
    let found: BTreeSet<String> = all.collect();
    let allowed: BTreeSet<String> = ALLOWED.iter().map(|&circle| circle.to_owned()).collect();
    let fresh = found.difference(&allowed).map(|circle| {
        format!("{circle}: these modules use each other; move what they share below them")
    });
    let gone = allowed.difference(&found);
    let gone = gone.map(|circle| format!("{circle}: no circle; delete it in xtask/src/circles.rs"));
    let wrong: Vec<String> = fresh.chain(gone).collect();
    if wrong.is_empty() {
        println!("circles: {} crates", crates.len());
        Ok(())
    } else {
        Err(wrong.join("\n       "))
    }
}

/// The circles of a crate, whose files have paths from `root` on: a folder, and in alphabetical
/// order the modules in it that use each other.
fn circles(root: &str, files: &[(String, String)]) -> Vec<String> {
    let modules = read(files);
    let mut uses: BTreeMap<&[String], BTreeMap<&str, BTreeSet<String>>> = BTreeMap::new();
    for (from, module) in &modules {
        for to in &module.paths {
            let to = home(&modules, to.clone(), 0);
            let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if common < from.len() && common < to.len() {
                let folder = uses.entry(&from[..common]).or_default();
                let used = folder.entry(&from[common]).or_default();
                used.insert(to[common].clone());
            }
        }
    }
    let mut found = Vec::new();
    for (folder, uses) in uses {
        let folder = [&[root.to_owned()], folder].concat().join("/");
        let groups = together(&uses).into_iter();
        found.extend(groups.map(|group| format!("{folder}: {}", group.join(" "))));
    }
    found
}

/// The module that has the item which a path names. Follows re-exports, at most eight of them.
fn home(modules: &BTreeMap<Path, Module>, mut path: Path, followed: u32) -> Path {
    let is_module = |n: &usize| modules.contains_key(&path[..*n]);
    let depth = (0..=path.len()).rev().find(is_module).unwrap_or(0);
    if let (Some(item), true) = (path.get(depth), followed < 8) {
        let module = &modules[&path[..depth]];
        let has = |glob: &&Path| {
            let there = modules.get(&glob[..]);
            there.is_some_and(|there| there.items.contains(item))
        };
        if !module.items.contains(item) {
            if let Some(to) = module.names.get(item) {
                return home(modules, to.clone(), followed + 1);
            }
            if let Some(to) = module.globs.iter().find(has) {
                return to.clone();
            }
        }
    }
    path.truncate(depth);
    path
}

/// Groups of modules each of which uses all others of its group, directly or not.
fn together(uses: &BTreeMap<&str, BTreeSet<String>>) -> Vec<Vec<String>> {
    let reached = |from: &str| {
        let mut seen = BTreeSet::new();
        let mut next = vec![from];
        while let Some(module) = next.pop() {
            for used in uses.get(module).into_iter().flatten() {
                if seen.insert(used.as_str()) {
                    next.push(used);
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&str, BTreeSet<&str>> = uses.keys().map(|&m| (m, reached(m))).collect();
    let mut groups = BTreeSet::new();
    for (module, others) in &reached {
        let back = |other: &&&str| reached.get(**other).is_some_and(|o| o.contains(module));
        let group: Vec<String> = others.iter().filter(back).map(|&o| o.to_owned()).collect();
        if group.len() > 1 {
            groups.insert(group);
        }
    }
    groups.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::circles;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        let files: Vec<_> = files.iter().map(owned).collect();
        circles("src", &files)
    }

    #[test]
    fn modules_that_use_each_other_over_a_third_one() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c; mod d;"),
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "fn f() { crate::c::g() }"),
            ("c.rs", "use crate::{a::{self, A}, d};"),
            ("d.rs", "pub struct D;"),
        ];
        assert_eq!(found(&files), ["src: a b c"]);
    }

    #[test]
    fn a_path_through_a_re_export_is_one_to_the_items_module() {
        let files = [
            (
                "lib.rs",
                "mod a; mod b; mod c; pub use b::B as Bee; use c::*;",
            ),
            ("a.rs", "use crate::Bee;"),
            ("b.rs", "pub struct B; use crate::Cee;"),
            ("c.rs", "pub struct Cee; use super::a;"),
        ];
        assert_eq!(found(&files), ["src: a b c"]);
        // The crate's own items are no module's.
        let files = [
            ("lib.rs", "mod a; mod b; pub struct B; use a::A;"),
            ("a.rs", "use crate::B;"),
            ("b.rs", "use crate::a::A;"),
        ];
        assert_eq!(found(&files), [""; 0]);
    }

    #[test]
    fn files_of_a_folder_are_modules_of_it_and_the_folder_is_one_above() {
        let files = [
            ("lib.rs", "mod low; mod high;"),
            ("low.rs", "use crate::high::x::X;"),
            (
                "high/mod.rs",
                "mod x; mod y; pub struct High; use crate::low::Low;",
            ),
            ("high/x.rs", "use super::y::Y; impl super::High {}"),
            ("high/y.rs", "mod inner { use super::super::x; }"),
        ];
        assert_eq!(found(&files), ["src: high low", "src/high: x y"]);
    }

    #[test]
    fn tests_comments_and_strings_do_not_count() {
        let files = [
            ("lib.rs", "mod a; mod b; #[cfg(test)] mod c;"),
            ("a.rs", "use crate::b::B;"),
            (
                "b.rs",
                "// use crate::a;\n/* crate::a */ const A: &str = \"crate::a\"; const B: &str = \
                 r#\"crate::a\"#; const C: char = '\"'; fn f<'a>() {}\n\
                 #[cfg(test)]\nmod tests { use super::*; use crate::a::A; fn f() {} }",
            ),
            ("c.rs", "use crate::a::A;"),
        ];
        assert_eq!(found(&files), [""; 0]);
    }
}
