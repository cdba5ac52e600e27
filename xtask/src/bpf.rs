// SPDX-License-Identifier: MIT OR Apache-2.0
//! The markers' bytecode in `dataplane/bpf`, which the build embeds so that it needs no clang. It
//! is written with clang, compared with the output of this machine's clang, or compared with its
//! sources by hash, without clang.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// The folder of the objects, and the record of compiler, options and sources.
const FOLDER: &str = "dataplane/bpf";
const RECORD: &str = "dataplane/bpf/COMPILER";
/// The objects of tc programs, below either folder.
const TC: &str = "tc";
/// Where `--check` builds.
const SCRATCH: &str = "target/bpf";
/// Options that a user would choose, the rules of a kernel, and nothing that makes the object
/// depend on the build machine.
const OPTIONS: &str = include_str!("../../dataplane/bpf-options.txt");
/// Where the headers are.
const HEADERS: [&str; 2] = ["-I", "dataplane/include"];

fn options() -> Vec<&'static str> {
    OPTIONS.lines().chain(HEADERS).collect()
}

/// The faults of the markers for tests (`dataplane/bpf/markers/faulty.c`).
const FAULTS: &[&str] = &[
    "load",
    "null",
    "stack",
    "recursion",
    "helper",
    "verdict",
    "endless",
    "dequeue",
    "emptied",
    "wake",
    "clock",
    "global",
];

/// An object: its path below the folder, its source and its own options.
struct Unit {
    object: String,
    source: String,
    options: Vec<String>,
}

/// Every object that the folder holds.
fn units(schemes: &[String]) -> Vec<Unit> {
    let mut units: Vec<Unit> = schemes
        .iter()
        .map(|stem| Unit {
            object: format!("{stem}.o"),
            source: "dataplane/marker.c".to_owned(),
            options: vec![
                format!("-DCEMARK_STEM={stem}"),
                format!("-DCEMARK_HEADER=\"cemark/{stem}.h\""),
                format!("-DCEMARK_PREFIX=cemark_twin_{stem}"),
            ],
        })
        .collect();
    for (stem, source) in [
        ("own_marker", "examples/own_marker.c"),
        ("calling", "dataplane/bpf/markers/calling.c"),
        ("no_marker", "dataplane/bpf/markers/no_marker.c"),
    ] {
        units.push(Unit {
            object: format!("markers/{stem}.o"),
            source: source.to_owned(),
            options: Vec::new(),
        });
    }
    // What a kernel runs. It needs the types of the maps' values, which only `-g` writes.
    units.extend(schemes.iter().map(|stem| {
        Unit {
            object: format!("{TC}/{stem}.o"),
            source: "dataplane/tc/marker.c".to_owned(),
            options: [
                "-g",
                "-fdebug-compilation-dir=.",
                "-I",
                "dataplane/tc",
                &format!("-DCEMARK_STEM={stem}"),
                &format!("-DCEMARK_HEADER=\"cemark/{stem}.h\""),
            ]
            .map(str::to_owned)
            .to_vec(),
        }
    }));
    units.extend(FAULTS.iter().map(|fault| Unit {
        object: format!("markers/{fault}.o"),
        source: "dataplane/bpf/markers/faulty.c".to_owned(),
        options: vec![format!("-DCEMARK_FAULT_{fault}=1")],
    }));
    units
}

/// `cargo xtask bpf`: writes every object and the record.
pub(crate) fn write() -> Result<(), String> {
    let units = units(&crate::tree::deployed_schemes()?);
    let clang = Clang::find()?;
    clang.build(&units, FOLDER)?;
    for old in strangers(&units)? {
        fs::remove_file(&old).map_err(|e| format!("{old}: {e}"))?;
        println!("removed {old}: it has no source any more");
    }
    let mut record = format!(
        "# Compiler and sources of the objects here: written by `cargo xtask bpf`, read by \
         `cargo xtask check`. Hashes are those of `git hash-object`.\ncompiler {}\noptions {}\n",
        clang.version,
        options().join(" ")
    );
    for (path, hash) in hashes(&files(&units)?)? {
        record += &format!("{hash} {path}\n");
    }
    fs::write(RECORD, record).map_err(|e| format!("{RECORD}: {e}"))?;
    println!("{} objects in {FOLDER}, by {}", units.len(), clang.version);
    Ok(())
}

/// Whether the objects were made from these sources. Needs no clang.
pub(crate) fn fresh() -> Result<(), String> {
    let remedy = "\n       cargo xtask bpf builds it again (with clang; commit what it writes in \
                  dataplane/bpf)";
    let units = units(&crate::tree::deployed_schemes()?);
    let record = Record::read()?;
    let now = hashes(&files(&units)?)?;
    let wrong = differences(&record, &now, strangers(&units)?);
    if wrong.is_empty() {
        println!(
            "bytecode: {} objects, made from these sources by {}",
            units.len(),
            record.compiler
        );
        return Ok(());
    }
    Err(format!(
        "the bytecode in {FOLDER} was not made from this tree: {}{remedy}",
        wrong.join(", ")
    ))
}

/// Changes since the record was written: options, sources, objects.
fn differences(
    record: &Record,
    now: &BTreeMap<String, String>,
    strangers: Vec<String>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    if record.options != options().join(" ") {
        wrong.push("the options of dataplane/bpf-options.txt have changed".to_owned());
    }
    for (path, hash) in now {
        match record.hashes.get(path) {
            None => wrong.push(format!("{path} is new")),
            Some(old) if old != hash => wrong.push(format!("{path} has changed")),
            Some(_) => {}
        }
    }
    let gone = record.hashes.keys().filter(|path| !now.contains_key(*path));
    wrong.extend(gone.map(|path| format!("{path} is missing")));
    wrong.extend(
        strangers
            .into_iter()
            .map(|path| format!("{path} has no source")),
    );
    wrong
}

/// `cargo xtask bpf --check`: this machine's clang makes the same objects. Another version of clang
/// may write different bytes; then the decisions are compared.
pub(crate) fn check() -> Result<(), String> {
    fresh()?;
    let units = units(&crate::tree::deployed_schemes()?);
    let (clang, record) = (Clang::find()?, Record::read()?);
    clang.build(&units, SCRATCH)?;
    if clang.version == record.compiler {
        let bytes = |folder: &str, unit: &Unit| {
            let path = format!("{folder}/{}", unit.object);
            fs::read(&path).map_err(|e| format!("{path}: {e}"))
        };
        for unit in &units {
            if bytes(FOLDER, unit)? != bytes(SCRATCH, unit)? {
                return Err(format!(
                    "{FOLDER}/{} is not what {} makes from {}; see {SCRATCH}/{}",
                    unit.object, clang.version, unit.source, unit.object
                ));
            }
        }
        println!(
            "{} objects are, byte for byte, what {} makes",
            units.len(),
            clang.version
        );
    } else {
        println!(
            "this is {}, and the objects are by {}: compared by what they decide",
            clang.version, record.compiler
        );
        let bytecode = ["so_does_the_bytecode", "rust_and_bytecode"];
        let tests = ["--test", "tests", "--"];
        test(
            "cemark-conformance",
            &[&tests[..], &bytecode].concat(),
            true,
        )?;
        test("cemark", &["--test", "tests", "foreign::"], true)?;
        test("cemark-tcbpf", &[], true)?;
    }
    // The other tests that need clang.
    test(
        "cemark-foreign",
        &["--features", "clang", "--test", "tests", "kernel::"],
        false,
    )
}

/// Runs tests of a package, with `on_scratch` on the objects that this machine made.
fn test(package: &str, args: &[&str], on_scratch: bool) -> Result<(), String> {
    let mut line = Command::new(env!("CARGO"));
    line.args(["test", "--quiet", "--locked", "-p", package])
        .args(args);
    if on_scratch {
        let folder = fs::canonicalize(SCRATCH).map_err(|e| format!("{SCRATCH}: {e}"))?;
        line.env("CEMARK_BPF", folder);
    }
    let status = line.status().map_err(|e| format!("cargo test: {e}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{line:?}: {status}"))
    }
}

struct Clang {
    program: String,
    /// The first line of `clang --version`.
    version: String,
}

impl Clang {
    fn find() -> Result<Self, String> {
        let program = std::env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
        let said = Command::new(&program)
            .arg("--version")
            .output()
            .map_err(|e| {
                format!(
                    "{program}: {e}; install clang (apt-get install clang), or name one in CLANG"
                )
            })?;
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        let version = said.lines().next().unwrap_or_default().trim().to_owned();
        if !version.contains("clang version") {
            return Err(format!("{program} --version prints `{version}`: not clang"));
        }
        Ok(Clang { program, version })
    }

    /// Compiles every unit into a folder. Paths are relative to the tree, so that no object depends
    /// on where the tree is.
    fn build(&self, units: &[Unit], folder: &str) -> Result<(), String> {
        let _ = fs::remove_dir_all(SCRATCH);
        for below in ["markers", TC] {
            fs::create_dir_all(format!("{folder}/{below}"))
                .map_err(|e| format!("{folder}: {e}"))?;
        }
        for unit in units {
            let object = format!("{folder}/{}", unit.object);
            let out = Command::new(&self.program)
                .args(options())
                .args(&unit.options)
                .args(["-c", &unit.source, "-o", &object])
                .output()
                .map_err(|e| format!("{}: {e}", self.program))?;
            if !out.status.success() {
                return Err(format!(
                    "{object}: {}",
                    String::from_utf8_lossy(&out.stderr)
                ));
            }
            if Path::new(&unit.object).starts_with(TC) {
                strip(&object).map_err(|e| format!("{object}: {e}"))?;
            }
        }
        Ok(())
    }
}

/// Removes what `-g` writes beside the types (`.BTF`), which is most of the file: DWARF, the lines
/// of the source, and the compiler's labels.
fn strip(path: &str) -> Result<(), String> {
    use object::build::elf::{Builder, SectionData};
    use object::elf::SHT_STRTAB;

    let bytes = fs::read(path).map_err(|e| e.to_string())?;
    let mut file = Builder::read64(&*bytes).map_err(|e| e.to_string())?;
    let useless: [&[u8]; 4] = [b".debug", b".rel.debug", b".BTF.ext", b".rel.BTF"];
    for section in &mut file.sections {
        section.delete = useless.iter().any(|name| section.name.starts_with(name));
    }
    for symbol in &mut file.symbols {
        symbol.delete = symbol.name.starts_with(b"LBB");
    }
    file.delete_orphans();
    // clang keeps the names of sections and symbols in one section, `object` in two.
    let names = file.sections.add();
    names.name = b".shstrtab".as_slice().into();
    names.sh_type = SHT_STRTAB;
    names.sh_addralign = 1;
    names.data = SectionData::SectionString;
    let mut out = Vec::new();
    file.write(&mut out).map_err(|e| e.to_string())?;
    fs::write(path, out).map_err(|e| e.to_string())
}

/// The content of `RECORD`.
struct Record {
    compiler: String,
    options: String,
    hashes: BTreeMap<String, String>,
}

impl Record {
    fn read() -> Result<Self, String> {
        let text = fs::read_to_string(RECORD)
            .map_err(|e| format!("{RECORD}: {e}; cargo xtask bpf writes it"))?;
        Record::parse(&text)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut record = Record {
            compiler: String::new(),
            options: String::new(),
            hashes: BTreeMap::new(),
        };
        for line in text.lines().filter(|l| !l.starts_with('#')) {
            match line.split_once(' ') {
                Some(("compiler", rest)) => rest.clone_into(&mut record.compiler),
                Some(("options", rest)) => rest.clone_into(&mut record.options),
                Some((hash, path)) => {
                    record.hashes.insert(path.to_owned(), hash.to_owned());
                }
                None => {
                    return Err(format!(
                        "{RECORD}: `{line}` is not of its form; cargo xtask bpf writes it"
                    ));
                }
            }
        }
        Ok(record)
    }
}

/// Sources and objects, in order.
fn files(units: &[Unit]) -> Result<Vec<String>, String> {
    let mut all = listed("dataplane/include/cemark", ".h")?;
    all.extend(listed("dataplane/tc", ".h")?);
    all.extend(units.iter().map(|u| u.source.clone()));
    let objects = units.iter().map(|u| format!("{FOLDER}/{}", u.object));
    all.extend(objects.filter(|path| Path::new(path).is_file()));
    all.sort();
    all.dedup();
    Ok(all)
}

/// Objects in the folder that belong to no unit.
fn strangers(units: &[Unit]) -> Result<Vec<String>, String> {
    let mut there = listed(FOLDER, ".o")?;
    for below in ["markers", TC] {
        there.extend(listed(&format!("{FOLDER}/{below}"), ".o")?);
    }
    there.retain(|path| {
        !units
            .iter()
            .any(|u| *path == format!("{FOLDER}/{}", u.object))
    });
    Ok(there)
}

fn listed(folder: &str, end: &str) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{folder}: {e}"))?;
    let names = entries.filter_map(|e| e.ok()?.file_name().into_string().ok());
    Ok(names
        .filter(|n| n.ends_with(end))
        .map(|n| format!("{folder}/{n}"))
        .collect())
}

/// Git's hashes of the contents of files, without conversion of line ends.
fn hashes(files: &[String]) -> Result<BTreeMap<String, String>, String> {
    let mut git = Command::new("git")
        .args(["hash-object", "--no-filters", "--stdin-paths"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("git hash-object: {e}"))?;
    let mut stdin = git.stdin.take().expect("piped");
    stdin
        .write_all((files.join("\n") + "\n").as_bytes())
        .map_err(|e| format!("git hash-object: {e}"))?;
    drop(stdin);
    let out = git
        .wait_with_output()
        .map_err(|e| format!("git hash-object: {e}"))?;
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    let hashes: Vec<&str> = said.lines().collect();
    if !out.status.success() || hashes.len() != files.len() {
        return Err(format!("git hash-object: {}", out.status));
    }
    Ok(files
        .iter()
        .cloned()
        .zip(hashes.iter().map(|h| (*h).to_owned()))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_older_than_their_sources_are_named() {
        let text = format!(
            "# made by\ncompiler clang 1\noptions {}\n11 a.h\n22 a.o\n",
            options().join(" ")
        );
        let record = Record::parse(&text).unwrap();
        assert_eq!(record.compiler, "clang 1");
        let differ = |files: &[(&str, &str)]| {
            let now = files
                .iter()
                .map(|(path, hash)| ((*path).to_owned(), (*hash).to_owned()));
            differences(&record, &now.collect(), Vec::new())
        };
        assert!(differ(&[("a.h", "11"), ("a.o", "22")]).is_empty());
        assert_eq!(differ(&[("a.h", "12"), ("a.o", "22")]), ["a.h has changed"]);
        assert_eq!(differ(&[("a.h", "11")]), ["a.o is missing"]);
        assert_eq!(
            differ(&[("a.h", "11"), ("a.o", "22"), ("b.h", "33")]),
            ["b.h is new"]
        );
        assert_eq!(
            differences(&record, &record.hashes, vec!["x.o".to_owned()]),
            ["x.o has no source"]
        );
        let other = Record::parse(&text.replace("-O2", "-O1")).unwrap();
        assert_eq!(differences(&other, &other.hashes, Vec::new()).len(), 1);
        assert!(Record::parse("word").is_err());
    }

    #[test]
    fn every_object_has_one_source_and_a_unique_name() {
        let units = units(&["red".to_owned()]);
        let mut names: Vec<&String> = units.iter().map(|u| &u.object).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), units.len());
        assert!(units.iter().all(|u| u.source.ends_with(".c")));
    }
}
