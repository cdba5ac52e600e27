// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask recipes`: the additions that CONTRIBUTING.md describes take as few files and lines
//! as it says.
//!
//! `xtask/recipes/NAME.patch` is an addition that an engineer made who followed the recipe only.
//! Each is applied to a copy of the tree, counted against its limit, built and run:
//! `xtask/recipes/NAME.toml` is a scenario that uses what was added. Comments in the scenario,
//! `# expect: POINTER = VALUE`, name what the JSON answer of the run must hold.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Patches and their scenarios.
const FOLDER: &str = "xtask/recipes";
/// The copy of the tree. It is kept, so that the next patch compiles only the crates that it
/// changes.
const TREE: &str = "target/recipes/tree";
/// The program that is built from the copy, and its runs.
const BUILD: &str = "target/recipes/build";
/// The place of compiled crates: dependencies that `cargo test --workspace` has compiled are there.
const COMPILED: &str = "target";

/// Limits of an addition. Lines that declare a module, documents and tests are not counted.
struct Recipe {
    name: &'static str,
    /// New files.
    files: usize,
    /// Places in files that exist: runs of neighbouring changed lines.
    places: usize,
    /// Changed lines in files that exist.
    lines: usize,
}

/// The limits that CONTRIBUTING.md promises.
const RECIPES: &[Recipe] = &[
    // One file with the controller, one line in the table of controllers.
    Recipe {
        name: "controller",
        files: 1,
        places: 1,
        lines: 1,
    },
    // One file with the topology, one line in the table of topologies.
    Recipe {
        name: "topology",
        files: 1,
        places: 1,
        lines: 1,
    },
    // One file with the workload, one line in the table of workloads.
    Recipe {
        name: "workload",
        files: 1,
        places: 1,
        lines: 1,
    },
    // One entry of the registry of metrics, however many lines rustfmt makes of it.
    Recipe {
        name: "metric",
        files: 0,
        places: 1,
        lines: 20,
    },
];

/// Runs every recipe, or the one of this name.
pub(crate) fn run(name: Option<&str>) -> Result<(), String> {
    // Without the folder every patch is missing, and that is what the message says.
    let names = fs::read_dir(FOLDER).into_iter().flatten();
    let names = names.filter_map(|e| e.ok()?.file_name().into_string().ok());
    complete(&names.collect())?;
    let asked = RECIPES.iter().filter(|r| name.is_none_or(|n| n == r.name));
    let mut proved = 0;
    for recipe in asked {
        prove(recipe).map_err(|why| format!("recipe {}: {why}", recipe.name))?;
        proved += 1;
    }
    if let (0, Some(name)) = (proved, name) {
        let all: Vec<&str> = RECIPES.iter().map(|r| r.name).collect();
        return Err(format!("no recipe {name}; there are {}", all.join(", ")));
    }
    let additions = if proved == 1 {
        "addition holds its"
    } else {
        "additions hold their"
    };
    println!("recipes: {proved} {additions} limits, build and run");
    Ok(())
}

/// Every recipe has a patch and a scenario, and no other patch lies there unread.
fn complete(names: &BTreeSet<String>) -> Result<(), String> {
    let wanted = RECIPES
        .iter()
        .flat_map(|r| [format!("{}.patch", r.name), format!("{}.toml", r.name)]);
    let wanted: BTreeSet<String> = wanted.collect();
    if let Some(missing) = wanted.difference(names).next() {
        return Err(format!(
            "{FOLDER}/{missing} is missing; it shows that the recipe of CONTRIBUTING.md works"
        ));
    }
    let is_read = |name: &&String| !name.ends_with(".patch") || wanted.contains(*name);
    match names.iter().find(|name| !is_read(name)) {
        Some(stray) => Err(format!(
            "{FOLDER}/{stray} has no limits in xtask/src/recipes.rs"
        )),
        None => Ok(()),
    }
}

/// Counts, applies, builds and runs one recipe.
fn prove(recipe: &Recipe) -> Result<(), String> {
    let path = format!("{FOLDER}/{}.patch", recipe.name);
    let patch = fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
    let counted = Counted::of(&patch)?;
    println!("{}: {}", recipe.name, counted.line());
    counted.within(recipe)?;
    let path = format!("{FOLDER}/{}.toml", recipe.name);
    let scenario = fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
    let expected = expectations(&scenario, &patch).map_err(|why| format!("{path}: {why}"))?;
    let tree = copy()?;
    apply(&format!("{FOLDER}/{}.patch", recipe.name), &tree)?;
    let answer = build_and_run(&tree, &absolute(&path)?)?;
    for wanted in &expected {
        wanted
            .judge(&answer)
            .map_err(|why| format!("{path}: {why}"))?;
        println!("{}: the run's JSON holds {}", recipe.name, wanted.pointer);
    }
    Ok(())
}

/// Size of a patch, by the rules of [`Recipe`].
#[derive(Debug, Default, PartialEq)]
struct Counted {
    /// New files.
    files: Vec<String>,
    /// (file, places, changed lines) of files that exist.
    changed: Vec<(String, usize, usize)>,
    /// Files that are not counted.
    free: Vec<String>,
}

impl Counted {
    /// Counts the files and lines of a patch in the form of `git diff`.
    fn of(patch: &str) -> Result<Self, String> {
        let mut counted = Counted::default();
        for part in format!("\n{patch}").split("\ndiff --git ").skip(1) {
            let path = part
                .lines()
                .find_map(|l| l.strip_prefix("+++ b/"))
                .ok_or("deletes a file or changes one that is not text")?
                .to_owned();
            if is_free(&path) {
                counted.free.push(path);
            } else if part.lines().any(|l| l == "--- /dev/null") {
                counted.files.push(path);
            } else {
                let (places, lines) = changes(part);
                if lines > 0 {
                    counted.changed.push((path, places, lines));
                }
            }
        }
        match counted.files.is_empty() && counted.changed.is_empty() {
            true => Err("changes no code".to_owned()),
            false => Ok(counted),
        }
    }

    /// (places, lines) in files that exist.
    fn sums(&self) -> (usize, usize) {
        let all = self.changed.iter();
        all.fold((0, 0), |sum, (_, places, lines)| {
            (sum.0 + places, sum.1 + lines)
        })
    }

    fn line(&self) -> String {
        let (places, lines) = self.sums();
        let changed: Vec<String> = self
            .changed
            .iter()
            .map(|(path, _, lines)| format!("{path} {lines}"))
            .collect();
        format!(
            "new files {} ({}); changed lines {lines} at {places} places ({}); not counted: {}",
            self.files.len(),
            self.files.join(", "),
            changed.join(", "),
            self.free.join(", ")
        )
    }

    fn within(&self, recipe: &Recipe) -> Result<(), String> {
        let (places, lines) = self.sums();
        let mut over = Vec::new();
        for (what, is, most) in [
            ("new files", self.files.len(), recipe.files),
            ("places in existing files", places, recipe.places),
            ("changed lines in existing files", lines, recipe.lines),
        ] {
            if is > most {
                over.push(format!("{is} {what}, at most {most}"));
            }
        }
        match over.is_empty() {
            true => Ok(()),
            false => Err(format!("takes {}", over.join(" and "))),
        }
    }
}

/// Documents and tests are work too, but not what a registry can save.
fn is_free(path: &str) -> bool {
    let in_folder = |name: &str| path.split('/').any(|part| part == name);
    let is_test = path.ends_with("_tests.rs") || in_folder("tests") || path.ends_with("/tests.rs");
    is_test || path.ends_with(".md") || in_folder("docs")
}

/// Places and lines that the hunks of one existing file change. A replaced line counts once.
fn changes(part: &str) -> (usize, usize) {
    let (mut places, mut lines) = (0, 0);
    let (mut added, mut removed) = (0_usize, 0_usize);
    let hunks = part.lines().skip_while(|l| !l.starts_with("@@"));
    // The line at the end closes the last place.
    for line in hunks.chain([" "]) {
        let is_module = declares_module(line.get(1..).unwrap_or_default());
        match line.as_bytes().first() {
            Some(b'+') if !is_module => added += 1,
            Some(b'-') if !is_module => removed += 1,
            Some(b'+' | b'-' | b'\\') => {}
            _ => {
                let most = added.max(removed);
                places += usize::from(most > 0);
                lines += most;
                (added, removed) = (0, 0);
            }
        }
    }
    (places, lines)
}

/// `mod name;`, `pub mod name;`, `pub(crate) mod name;`.
fn declares_module(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["mod", name] => name.ends_with(';'),
        [visible, "mod", name] => visible.starts_with("pub") && name.ends_with(';'),
        _ => false,
    }
}

/// A line `# expect:` of a scenario.
#[derive(Debug, PartialEq)]
struct Expected {
    pointer: String,
    /// `None`: any value but null.
    value: Option<serde_json::Value>,
}

impl Expected {
    fn judge(&self, answer: &serde_json::Value) -> Result<(), String> {
        let found = answer
            .pointer(&self.pointer)
            .unwrap_or(&serde_json::Value::Null);
        let good = match &self.value {
            Some(value) => found == value,
            None => !found.is_null(),
        };
        let wanted = self.value.as_ref().map(|v| format!("{v}"));
        match good {
            true => Ok(()),
            false => Err(format!(
                "the run's JSON has {found} at {}, and {} is expected",
                self.pointer,
                wanted.as_deref().unwrap_or("a value")
            )),
        }
    }
}

/// The `# expect:` lines of a scenario. Each names something that the patch adds: otherwise a run
/// of the tree without the patch would pass.
fn expectations(scenario: &str, patch: &str) -> Result<Vec<Expected>, String> {
    let mut all = Vec::new();
    for text in scenario.lines().filter_map(|l| l.strip_prefix("# expect:")) {
        let (pointer, value) = match text.split_once('=') {
            None => (text.trim(), None),
            Some((pointer, value)) => {
                let value = serde_json::from_str(value.trim());
                (
                    pointer.trim(),
                    Some(value.map_err(|e| format!("{text}: {e}"))?),
                )
            }
        };
        let last = pointer.rsplit('/').next().unwrap_or_default();
        let name = match &value {
            Some(serde_json::Value::String(word)) => word.as_str(),
            _ => last,
        };
        // Names may be written with either sign between their words.
        let plain = |text: &str| text.replace('-', "_");
        let added = patch.lines().filter(|l| l.starts_with('+'));
        if !added.map(plain).any(|l| l.contains(&plain(name))) {
            return Err(format!("expects `{name}`, which the patch does not add"));
        }
        all.push(Expected {
            pointer: pointer.to_owned(),
            value,
        });
    }
    match all.is_empty() {
        true => Err("has no line `# expect: POINTER = VALUE` about the run's JSON".to_owned()),
        false => Ok(all),
    }
}

fn absolute(path: &str) -> Result<PathBuf, String> {
    std::path::absolute(path).map_err(|e| format!("{path}: {e}"))
}

/// The tree as it is, committed or not. Files that are equal are left alone, so that cargo compiles
/// only what has changed.
fn copy() -> Result<PathBuf, String> {
    let tree = absolute(TREE)?;
    let wanted: BTreeSet<String> = crate::tree::files()?.into_iter().collect();
    for old in present(&tree, &tree)? {
        if !wanted.contains(&old) {
            let path = tree.join(&old);
            fs::remove_file(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        }
    }
    for file in &wanted {
        let to = tree.join(file);
        let wrong = |e: std::io::Error| format!("{}: {e}", to.display());
        fs::create_dir_all(to.parent().expect("it is below the tree")).map_err(wrong)?;
        // A link to a folder: its files are copied to where it points.
        if let Ok(target) = fs::read_link(file) {
            if fs::read_link(&to).ok().as_ref() != Some(&target) {
                let _ = fs::remove_file(&to);
                link(&target, &to).map_err(wrong)?;
            }
        } else if fs::read(file).map_err(wrong)? != fs::read(&to).unwrap_or_default() {
            fs::copy(file, &to).map_err(wrong)?;
        }
    }
    Ok(tree)
}

#[cfg(unix)]
fn link(target: &Path, path: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> std::io::Result<()> {
    Err(std::io::Error::other("the recipes are checked on Unix"))
}

/// Files below a folder, by their paths from `root`.
fn present(folder: &Path, root: &Path) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(all);
    };
    for entry in entries {
        let entry = entry.map_err(|e| format!("{}: {e}", folder.display()))?;
        let kind = entry.file_type().map_err(|e| e.to_string())?;
        let path = entry.path();
        if kind.is_dir() {
            all.extend(present(&path, root)?);
        } else {
            let path = path.strip_prefix(root).expect("it is below the root");
            all.push(path.display().to_string());
        }
    }
    Ok(all)
}

/// The recipes whose patches no longer apply to the files as they are. It takes a moment, so that
/// `cargo xtask check` finds it long before the recipes are built.
pub(crate) fn stale() -> Result<Vec<String>, String> {
    let mut stale = Vec::new();
    for recipe in RECIPES {
        let patch = format!("{FOLDER}/{}.patch", recipe.name);
        let mut git = Command::new("git");
        git.args(["apply", "--check", &patch]);
        let out = git.output().map_err(|e| format!("git apply: {e}"))?;
        if !out.status.success() {
            stale.push(does_not_apply(&patch, &out.stderr));
        }
    }
    Ok(stale)
}

fn does_not_apply(patch: &str, stderr: &[u8]) -> String {
    format!(
        "{patch} does not apply to this tree:\n{}\
         To renew it, apply what still fits with\n  git apply --reject {patch}\n\
         or follow the recipe in CONTRIBUTING.md again, and write the patch with\n  \
         find crates docs -name '*.rej' -delete && git add --intent-to-add crates docs && \
         git diff crates docs > /tmp/renewed.patch\n\
         Your own work must be committed before. Then undo the changes and move the new patch to \
         {patch}.",
        String::from_utf8_lossy(stderr)
    )
}

/// Applies a patch to the copy.
fn apply(patch: &str, tree: &Path) -> Result<(), String> {
    let mut git = Command::new("git");
    git.args(["apply", "--whitespace=nowarn"])
        .arg(absolute(patch)?);
    // The copy lies in a repository that ignores it: git must not look for that one.
    let above = tree.parent().expect("it is below target");
    git.current_dir(tree).env("GIT_CEILING_DIRECTORIES", above);
    let out = git.output().map_err(|e| format!("git apply: {e}"))?;
    match out.status.success() {
        true => Ok(()),
        false => Err(does_not_apply(patch, &out.stderr)),
    }
}

/// Builds the program of the copy and runs the scenario: the JSON answer.
fn build_and_run(tree: &Path, scenario: &Path) -> Result<serde_json::Value, String> {
    let build = absolute(BUILD)?;
    let mut cargo = Command::new(env!("CARGO"));
    // Dependencies with the features that the workspace selects are compiled once for both.
    cargo.args(["build", "--quiet", "--locked"]);
    cargo.args(["--workspace", "--bin", "cemark"]);
    cargo.current_dir(tree).env("CARGO_TARGET_DIR", &build);
    cargo.env("CARGO_BUILD_BUILD_DIR", absolute(COMPILED)?);
    // The run is short: what counts is how soon the program is built.
    cargo.env("CARGO_PROFILE_DEV_OPT_LEVEL", "0");
    cargo.env("CARGO_PROFILE_DEV_DEBUG", "false");
    done(&mut cargo)?;
    let out = build.join("run");
    let mut run = Command::new(build.join("debug/cemark"));
    run.arg("run").arg(scenario).arg("--out").arg(&out);
    run.args(["--format", "json", "--fresh", "--jobs", "1"]);
    let answer = done(&mut run)?;
    let json: serde_json::Value = serde_json::from_slice(&answer.stdout)
        .map_err(|e| format!("the answer of {run:?} is no JSON: {e}"))?;
    // A run that measured nothing would prove nothing.
    match json
        .pointer("/points/0/flows")
        .and_then(serde_json::Value::as_u64)
    {
        Some(1..) => Ok(json),
        _ => Err(format!("{run:?} measured no flow")),
    }
}

fn done(command: &mut Command) -> Result<Output, String> {
    let out = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    match out.status.success() {
        true => Ok(out),
        false => Err(format!(
            "{command:?}: {}\n{}",
            out.status,
            String::from_utf8_lossy(&out.stderr)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "\
diff --git a/crates/x/src/new.rs b/crates/x/src/new.rs
new file mode 100644
index 0000000..1111111
--- /dev/null
+++ b/crates/x/src/new.rs
@@ -0,0 +1,2 @@
+//! New.
+pub const NAME: &str = \"my-new\";
diff --git a/crates/x/src/lib.rs b/crates/x/src/lib.rs
index 1111111..2222222 100644
--- a/crates/x/src/lib.rs
+++ b/crates/x/src/lib.rs
@@ -3,6 +3,7 @@ mod a;
 mod b;
+pub mod new;
 mod z;
@@ -20,5 +21,6 @@
 table! {
-    old,
+    old_renamed,
+    new,
 }
diff --git a/docs/new.md b/docs/new.md
new file mode 100644
--- /dev/null
+++ b/docs/new.md
@@ -0,0 +1 @@
+# New
diff --git a/crates/x/tests/new.rs b/crates/x/tests/new.rs
new file mode 100644
--- /dev/null
+++ b/crates/x/tests/new.rs
@@ -0,0 +1 @@
+#[test]
diff --git a/crates/x/src/tests.rs b/crates/x/src/tests.rs
--- a/crates/x/src/tests.rs
+++ b/crates/x/src/tests.rs
@@ -1 +1,2 @@
 use super::*;
+#[test]
";

    fn limit(files: usize, places: usize, lines: usize) -> Recipe {
        Recipe {
            name: "x",
            files,
            places,
            lines,
        }
    }

    #[test]
    fn modules_documents_and_tests_are_not_counted() {
        let counted = Counted::of(PATCH).unwrap();
        assert_eq!(counted.files, ["crates/x/src/new.rs"]);
        let lib = ("crates/x/src/lib.rs".to_owned(), 1, 2);
        assert_eq!(counted.changed, [lib]);
        let free = [
            "docs/new.md",
            "crates/x/tests/new.rs",
            "crates/x/src/tests.rs",
        ];
        assert_eq!(counted.free, free);
        assert!(counted.within(&limit(1, 1, 2)).is_ok());
        for (tight, said) in [
            (limit(0, 1, 2), "1 new files, at most 0"),
            (limit(1, 0, 2), "1 places in existing files, at most 0"),
            (
                limit(1, 1, 1),
                "2 changed lines in existing files, at most 1",
            ),
        ] {
            let why = counted.within(&tight).unwrap_err();
            assert!(why.ends_with(said), "{why}");
        }
        assert!(Counted::of("").is_err(), "an empty patch proves nothing");
        let only_docs = &PATCH[PATCH.find("diff --git a/docs").unwrap()..];
        assert!(Counted::of(only_docs).is_err());
    }

    #[test]
    fn lines_apart_are_places_apart() {
        let part = "x\n@@ -1 +1 @@\n+a\n b\n+c\n+d\n@@ -9 +9 @@\n-e\n-f\n+g\n";
        assert_eq!(changes(part), (3, 5));
        // The header of the file is not a change.
        assert_eq!(changes("--- a/x\n+++ b/x\n@@ -1 +1 @@\n b\n"), (0, 0));
        for line in ["mod a;", "pub mod a;", "pub(crate) mod a;"] {
            assert!(declares_module(line), "{line}");
        }
        for line in ["mod a {", "model a;", "use mod a;", "let a;"] {
            assert!(!declares_module(line), "{line}");
        }
    }

    #[test]
    fn every_patch_is_there_and_no_other() {
        let all = |r: &Recipe| [format!("{}.patch", r.name), format!("{}.toml", r.name)];
        let all: BTreeSet<String> = RECIPES.iter().flat_map(all).collect();
        assert!(complete(&all).is_ok());
        assert!(complete(&BTreeSet::new()).is_err(), "an empty folder fails");
        for name in &all {
            let mut fewer = all.clone();
            fewer.remove(name);
            assert!(complete(&fewer).unwrap_err().contains(name.as_str()));
        }
        let mut more = all.clone();
        more.insert("other.patch".to_owned());
        assert!(complete(&more).unwrap_err().contains("other.patch"));
    }

    #[test]
    fn a_patch_of_another_tree_says_how_to_renew_it() {
        let folder = std::env::temp_dir().join(format!("cemark-recipes-{}", std::process::id()));
        let (tree, patch) = (folder.join("tree"), folder.join("x.patch"));
        fs::create_dir_all(&tree).unwrap();
        let text = "--- a/file\n+++ b/file\n@@ -1 +1 @@\n-old\n+new\n";
        fs::write(&patch, text).unwrap();
        fs::write(tree.join("file"), "old\n").unwrap();
        let path = patch.display().to_string();
        apply(&path, &tree).unwrap();
        assert_eq!(fs::read_to_string(tree.join("file")).unwrap(), "new\n");
        let why = apply(&path, &tree).unwrap_err();
        assert!(
            why.contains("does not apply") && why.contains("--reject"),
            "{why}"
        );
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_scenario_says_what_its_run_must_show() {
        let text =
            "# expect: /points/0/axes/control = \"my_new\"\n# expect: /points/0/name\nx = 1\n";
        let expected = expectations(text, "+my-new\n+NAME and name\n").unwrap();
        let answer = serde_json::json!({"points": [{"axes": {"control": "my_new"}, "name": 0}]});
        assert!(expected.iter().all(|e| e.judge(&answer).is_ok()));
        for other in [
            serde_json::json!({"points": [{"axes": {"control": "reno"}, "name": null}]}),
            serde_json::json!({}),
        ] {
            assert!(expected.iter().all(|e| e.judge(&other).is_err()), "{other}");
        }
        // Something that was there before proves nothing.
        assert!(expectations(text, "+my-new\n name\n").is_err());
        assert!(expectations("x = 1\n", PATCH).is_err());
    }
}
