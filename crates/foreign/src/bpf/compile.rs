// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles a scheme's header to BPF with the user's clang, for schemes whose bytecode was not
//! there when this program was built, and for users who want their own compiler's code.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Object;
use crate::{Error, headers};

/// The options of clang, one per line, shared with `cargo xtask bpf`. No include directory is
/// needed here: the headers are joined into one source.
const OPTIONS: &str = include_str!("../../../../dataplane/bpf-options.txt");

/// The clang to use where none is named: that of the environment variable CLANG, or `clang`.
pub fn clang() -> OsString {
    std::env::var_os("CLANG").unwrap_or_else(|| "clang".into())
}

/// The object file that this clang makes of a scheme's header.
///
/// # Errors
///
/// [`Error::NoTwin`] where the scheme has no header, [`Error::Clang`] where clang is missing or
/// fails.
pub fn compile(stem: &str, clang: &OsStr) -> Result<Vec<u8>, Error> {
    let source = format!(
        "{}\n#define CEMARK_PREFIX cemark_twin_{stem}\n{}\nCEMARK_MARKER({stem});\n",
        headers::header(stem)?,
        headers::header("marker")?
    );
    let scratch = Scratch::new(stem).map_err(|why| failed(stem, clang, &why.to_string()))?;
    let object = run(&source, &scratch.0, clang).map_err(|why| failed(stem, clang, &why))?;
    // What clang wrote must be what the interpreter and `cemark run --marker` read.
    Object::parse(&object).map_err(|why| failed(stem, clang, &why))?;
    Ok(object)
}

fn run(source: &str, folder: &Path, clang: &OsStr) -> Result<Vec<u8>, String> {
    std::fs::write(folder.join("marker.c"), source).map_err(|e| e.to_string())?;
    let done = Command::new(clang)
        .args(OPTIONS.lines())
        .args(["-c", "marker.c", "-o", "marker.o"])
        .current_dir(folder)
        .output()
        .map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => "no such program".to_owned(),
            _ => e.to_string(),
        })?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        return Err(said.lines().take(5).collect::<Vec<_>>().join("\n"));
    }
    std::fs::read(folder.join("marker.o")).map_err(|e| e.to_string())
}

fn failed(stem: &str, clang: &OsStr, why: &str) -> Error {
    Error::Clang {
        scheme: stem.to_owned(),
        clang: clang.to_string_lossy().into_owned(),
        why: why.to_owned(),
    }
}

/// A directory that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(stem: &str) -> std::io::Result<Self> {
        let name = format!("cemark-bpf-{stem}-{}", std::process::id());
        // Threads of one process may compile the same scheme.
        for n in 0..1_000 {
            let path = std::env::temp_dir().join(format!("{name}-{n}"));
            match std::fs::create_dir(&path) {
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| Scratch(path)),
            }
        }
        Err(std::io::ErrorKind::AlreadyExists.into())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_clang_is_named_with_what_to_do() {
        let e = compile("tcn", OsStr::new("no-such-clang")).unwrap_err();
        let (what, help) = (e.to_string(), e.help().unwrap_or_default());
        assert_eq!(
            what,
            "cannot compile the scheme tcn to BPF with `no-such-clang`: no such program"
        );
        assert!(help.contains("install clang"), "{help}");
        assert!(help.contains("CLANG"), "{help}");
    }

    #[test]
    fn a_program_that_is_no_clang_is_not_believed() {
        // It succeeds and writes nothing; it fails.
        for (program, says) in [("true", "No such file"), ("false", "with `false`: ")] {
            let e = compile("tcn", OsStr::new(program)).unwrap_err();
            assert!(e.to_string().contains(says), "{e}");
        }
        assert!(matches!(
            compile("no_scheme", OsStr::new("clang")),
            Err(Error::NoTwin(_))
        ));
    }
}
