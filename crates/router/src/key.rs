// SPDX-License-Identifier: MIT OR Apache-2.0
//! The key that both routers share, and the tags of datagrams.
//!
//! A tag is SipHash-2-4 of 64 bits. It covers which end sent the datagram and the receiver's epoch,
//! so that a datagram that is reflected, or replayed after a restart, has a wrong one.

use core::fmt;
use core::hash::Hasher;
use std::io::Read;
use std::path::Path;

use siphasher::sip::SipHasher24;

use crate::wire::TAG;

/// Bytes from the start of a datagram that its tag covers: the router's header, and the headers of
/// the host's packet. The length is covered too. Payload is not: whoever is on the path can change
/// it without the routers as well.
pub const COVERED: usize = 128;

/// Which of the two routers of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// `cemark edge near`.
    Near,
    /// `cemark edge far`.
    Far,
}

impl End {
    /// The other router.
    pub fn other(self) -> End {
        match self {
            End::Near => End::Far,
            End::Far => End::Near,
        }
    }
}

/// A key of 128 bits. It is never shown: `Debug` prints a word.
#[derive(Clone)]
pub struct Key([u8; 16]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(secret)")
    }
}

impl Key {
    /// A key of these bytes.
    pub fn new(bytes: [u8; 16]) -> Key {
        Key(bytes)
    }

    /// Reads a key of 32 hexadecimal digits.
    ///
    /// # Errors
    /// In a sentence that says what to do, and nothing of the contents: where the file cannot be
    /// read, its owner's group or others can read it, or it has another form.
    pub fn load(path: &Path) -> Result<Key, String> {
        let shown = path.display();
        let make = format!("(umask 077; openssl rand -hex 16 >{shown})");
        let mut file = std::fs::File::open(path)
            .map_err(|e| format!("the key {shown}: {e}; `{make}` writes one"))?;
        // Of the file that is open: the name may lead to another one later.
        let meta = file.metadata();
        check_owner(&meta.map_err(|e| format!("the key {shown}: {e}"))?, path)?;
        let mut text = String::new();
        file.read_to_string(&mut text)
            .map_err(|e| format!("the key {shown}: {}; `{make}` writes one", e.kind()))?;
        let digits = text.trim().as_bytes();
        let mut bytes = [0; 16];
        let whole = digits.len() == 32;
        let digit = |b: u8| char::from(b).to_digit(16).map(|d| d as u8);
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
            *byte = match pair {
                &[a, b] if whole => digit(a).zip(digit(b)).map(|(a, b)| a << 4 | b),
                _ => None,
            }
            .ok_or(format!(
                "the key {shown} is not 32 hexadecimal digits; `{make}` writes one"
            ))?;
        }
        if !whole {
            return Err(format!(
                "the key {shown} is not 32 hexadecimal digits; `{make}` writes one"
            ));
        }
        Ok(Key(bytes))
    }

    /// The tag of a datagram from `sender` to a router of this epoch.
    pub fn tag(&self, sender: End, receiver: u64, header: &[u8], body: &[u8]) -> u64 {
        let mut hash = SipHasher24::new_with_key(&self.0);
        hash.write_u8(sender as u8);
        hash.write(&receiver.to_be_bytes());
        hash.write(&((header.len() + body.len()) as u64).to_be_bytes());
        let header = &header[..header.len().min(COVERED)];
        for (i, part) in [&header[..TAG.start], &header[TAG.end..]]
            .iter()
            .enumerate()
        {
            hash.write_u8(i as u8);
            hash.write(part);
        }
        hash.write(&body[..body.len().min(COVERED - header.len())]);
        hash.finish()
    }

    /// Writes the tag into its place in a header.
    pub fn sign(&self, sender: End, receiver: u64, header: &mut [u8], body: &[u8]) {
        let tag = self.tag(sender, receiver, header, body);
        header[TAG].copy_from_slice(&tag.to_be_bytes());
    }

    /// Whether the tag in the header is the right one. All bytes are compared, so that the time
    /// says nothing about how many agree.
    pub fn verify(&self, sender: End, receiver: u64, header: &[u8], body: &[u8]) -> bool {
        let tag = self.tag(sender, receiver, header, body).to_be_bytes();
        let differ = tag
            .iter()
            .zip(&header[TAG])
            .fold(0, |d, (a, b)| d | (a ^ b));
        core::hint::black_box(differ) == 0
    }
}

#[cfg(unix)]
fn check_owner(meta: &std::fs::Metadata, path: &Path) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;
    // The folder of this process belongs to the user who it runs as.
    let own = std::fs::metadata("/proc/self").map_or(0, |own| own.uid());
    if meta.uid() != 0 && meta.uid() != own {
        let (shown, uid) = (path.display(), meta.uid());
        return Err(format!(
            "the key {shown} belongs to user {uid}, who can change it; `chown root {shown}`, and a \
             new key"
        ));
    }
    let mode = meta.mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    let shown = path.display();
    Err(format!(
        "the key {shown} has mode {mode:04o}: others can read it; `chmod 600 {shown}`, and a new \
         key if they may have"
    ))
}

#[cfg(not(unix))]
fn check_owner(_: &std::fs::Metadata, _: &Path) -> Result<(), String> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "000102030405060708090a0b0c0d0e0f";

    #[cfg(unix)]
    fn file(name: &str, text: &str, mode: u32) -> std::path::PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = std::env::temp_dir().join(format!("cemark-key-{}-{name}", std::process::id()));
        std::fs::write(&path, text).expect("a scratch file");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("a mode");
        path
    }

    #[cfg(unix)]
    #[test]
    fn a_key_that_others_can_read_is_refused_and_never_shown() {
        for (name, mode) in [("group", 0o640), ("others", 0o604), ("all", 0o666)] {
            let path = file(name, KEY, mode);
            let refused = Key::load(&path).expect_err("others can read it");
            std::fs::remove_file(&path).expect("it is ours");
            assert!(refused.contains("chmod 600"), "{refused}");
            assert!(!refused.contains("0405"), "{refused}");
        }
        let path = file("foreign", KEY, 0o600);
        // Only root can give a file away.
        if std::os::unix::fs::chown(&path, Some(12_345), None).is_ok() {
            let refused = Key::load(&path).expect_err("it is another user's");
            assert!(refused.contains("belongs to user 12345"), "{refused}");
        }
        std::fs::remove_file(&path).expect("it is ours");
        let path = file("own", KEY, 0o600);
        let key = Key::load(&path).expect("only its owner can read it");
        std::fs::remove_file(&path).expect("it is ours");
        assert_eq!(format!("{key:?}"), "Key(secret)");
        for (name, text) in [("short", "00ff"), ("words", &"zz".repeat(16)), ("none", "")] {
            let path = file(name, text, 0o600);
            let refused = Key::load(&path).expect_err("it is no key");
            std::fs::remove_file(&path).expect("it is ours");
            assert!(refused.contains("32 hexadecimal digits"), "{refused}");
            assert!(text.is_empty() || !refused.contains(text), "{refused}");
        }
    }

    #[test]
    fn every_bit_that_is_covered_counts() {
        let key = Key::new([7; 16]);
        let mut header = vec![1; 36];
        let mut body = vec![2; 200];
        key.sign(End::Near, 5, &mut header, &body);
        assert!(key.verify(End::Near, 5, &header, &body));
        for bit in 0..header.len() * 8 {
            header[bit / 8] ^= 1 << (bit % 8);
            assert!(!key.verify(End::Near, 5, &header, &body), "bit {bit}");
            header[bit / 8] ^= 1 << (bit % 8);
        }
        for byte in 0..COVERED - header.len() {
            body[byte] ^= 1;
            assert!(!key.verify(End::Near, 5, &header, &body), "byte {byte}");
            body[byte] ^= 1;
        }
        assert!(!key.verify(End::Far, 5, &header, &body), "reflected");
        assert!(
            !key.verify(End::Near, 6, &header, &body),
            "before a restart"
        );
        assert!(
            !key.verify(End::Near, 5, &header, &body[..199]),
            "shortened"
        );
        assert!(!Key::new([8; 16]).verify(End::Near, 5, &header, &body));
    }
}
