// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writing that may block: a thread of its own writes messages and reports, so that a full pipe or
//! a disk that hangs does not stop the router. What that thread is too late for is dropped.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// Writings that wait at most.
const WAITING: usize = 64;
/// Longest wait at the end of the program.
const END: Duration = Duration::from_secs(1);

/// Writing of the thread.
enum Writing {
    /// Message on standard error.
    Message(String),
    /// Line on standard output.
    Line(String),
    /// Contents of a file.
    File(PathBuf, String),
    /// Word that all before is written.
    Done(SyncSender<()>),
}

static WRITER: OnceLock<SyncSender<Writing>> = OnceLock::new();

fn writer() -> &'static SyncSender<Writing> {
    WRITER.get_or_init(|| {
        let (sender, receiver) = sync_channel(WAITING);
        thread::spawn(move || write(&receiver));
        sender
    })
}

fn write(receiver: &Receiver<Writing>) {
    let mut failed = false;
    for writing in receiver {
        match writing {
            Writing::Message(text) => {
                let _ = writeln!(io::stderr(), "cemark-edge: {text}");
            }
            Writing::Line(text) => {
                let mut out = io::stdout().lock();
                let _ = writeln!(out, "{text}").and_then(|()| out.flush());
            }
            Writing::File(path, text) => {
                let done = replace(&path, &text);
                if let Err(e) = &done
                    && !failed
                {
                    let shown = path.display();
                    let _ = writeln!(
                        io::stderr(),
                        "cemark-edge: [stats] prometheus, {shown}: {e}"
                    );
                }
                failed = done.is_err();
            }
            Writing::Done(told) => {
                let _ = told.try_send(());
            }
        }
    }
}

/// Replaces a file in one step, so that no reader gets half of it. The file beside it is a new one:
/// somebody who may write to the folder must not lead the program elsewhere with a link.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let half = path.with_extension("tmp");
    match fs::remove_file(&half) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&half)?;
    file.write_all(text.as_bytes())?;
    fs::rename(&half, path)
}

/// Writes a message to standard error.
pub(super) fn say(message: String) {
    let _ = writer().try_send(Writing::Message(message));
}

/// Writes a line to standard output.
pub(super) fn line(text: String) {
    let _ = writer().try_send(Writing::Line(text));
}

/// Replaces a file.
pub(super) fn file(path: &Path, text: String) {
    let _ = writer().try_send(Writing::File(path.to_owned(), text));
}

/// Waits until all is written, for a second at most.
pub(super) fn end() {
    let (sender, done) = sync_channel(1);
    if writer().try_send(Writing::Done(sender)).is_ok() {
        let _ = done.recv_timeout(END);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_in_the_place_of_the_half_file_is_not_followed() {
        let folder = std::env::temp_dir().join(format!("cemark-say-{}", std::process::id()));
        fs::create_dir(&folder).expect("a scratch folder");
        let (path, other) = (folder.join("edge.prom"), folder.join("other"));
        fs::write(&other, "of others").expect("a file");
        std::os::unix::fs::symlink(&other, folder.join("edge.tmp")).expect("a link");
        replace(&path, "counts").expect("it can be written");
        let read = |path: &Path| fs::read_to_string(path).expect("a file");
        assert_eq!(
            (read(&path), read(&other)),
            ("counts".into(), "of others".into())
        );
        assert!(!path.is_symlink());
        fs::remove_dir_all(&folder).expect("it is ours");
    }
}
