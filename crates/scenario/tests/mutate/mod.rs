// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes of a scenario's text that break readers. Shared by `../mutations.rs`, which asks the
//! reader, and by the command's own `crates/cli/tests/fuzz_check.rs`.

/// Values that have broken readers before.
pub const NASTY: &[&str] = &[
    "0",
    "-1",
    "1",
    "nan",
    "inf",
    "-inf",
    "-0.0",
    "1e308",
    "1e-308",
    "9223372036854775807",
    "-9223372036854775808",
    "65536",
    "4294967296",
    "\"\"",
    "\"0\"",
    "\"-1us\"",
    "\"99999999999999999999s\"",
    "\"1e9Gbps\"",
    "\"0.0000000000000000000000001us\"",
    "\"NaN\"",
    "\"µs\"",
    "\"100%\"",
    "\"18446744073709551615B\"",
    "\"8Tbps\"",
    "\"1kbps\"",
    "\"1000s\"",
    "\"1ps\"",
    "true",
    "[]",
    "[[]]",
    "{}",
    "1979-05-27",
    "[1, \"a\"]",
    "0x7fffffff",
    "\"\\u0000\"",
    "\"../corpus\"",
    "\"all\"",
    "\"to-one\"",
    "\"other-rack\"",
    "\"fat-tree\"",
    "\"star\"",
    "\"long\"",
    "\"poisson\"",
    "\"none\"",
    "\"1B\"",
    "\"1GB\"",
];

/// A change of a text.
#[derive(Clone, Debug)]
pub enum Change {
    /// A line goes.
    Cut(usize),
    /// A line is written at another place.
    Copy(usize, usize),
    /// The value of a line becomes a nasty one.
    Value(usize, usize),
    /// The first number of a line becomes another one of like size, or of another size.
    Number(usize, usize),
    /// A line of another scenario is put in.
    Borrow(usize, usize, usize),
    /// A byte of a line changes.
    Byte(usize, usize, u8),
    /// The rest goes.
    Truncate(usize),
}

/// The text with these changes, one after the other; `others` are scenarios to borrow lines from.
pub fn apply(text: &str, changes: &[Change], others: &[(String, String)]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for change in changes {
        let n = lines.len().max(1);
        match *change {
            _ if lines.is_empty() => break,
            Change::Cut(i) => drop(lines.remove(i % n)),
            Change::Copy(i, j) => lines.insert(j % n, lines[i % n].clone()),
            Change::Value(i, v) => {
                let keyed: Vec<usize> = (0..n).filter(|&i| lines[i].contains('=')).collect();
                if let Some(&line) = keyed.get(i % keyed.len().max(1)) {
                    let key = lines[line].split('=').next().unwrap_or_default().to_owned();
                    lines[line] = format!("{key}= {}", NASTY[v % NASTY.len()]);
                }
            }
            Change::Number(i, v) => {
                let keyed: Vec<usize> = (0..n).filter(|&i| lines[i].contains("= ")).collect();
                if let Some(&line) = keyed.get(i % keyed.len().max(1)) {
                    lines[line] = another_number(&lines[line], v);
                }
            }
            Change::Borrow(o, i, j) => {
                let other: Vec<&str> = others[o % others.len()].1.lines().collect();
                lines.insert(j % n, other[i % other.len()].to_owned());
            }
            Change::Byte(i, at, byte) => {
                let mut bytes = std::mem::take(&mut lines[i % n]).into_bytes();
                let place = at % (bytes.len() + 1);
                match bytes.get_mut(place) {
                    Some(old) => *old = byte,
                    None => bytes.push(byte),
                }
                lines[i % n] = String::from_utf8_lossy(&bytes).into_owned();
            }
            Change::Truncate(i) => lines.truncate(i % (n + 1)),
        }
    }
    lines.join("\n")
}

/// The line with its first number behind the key changed, if it has one.
fn another_number(line: &str, how: usize) -> String {
    let (key, value) = line.split_once("= ").unwrap_or((line, ""));
    let Some(from) = value.find(|c: char| c.is_ascii_digit()) else {
        return line.to_owned();
    };
    let digits = value[from..]
        .chars()
        .take_while(char::is_ascii_digit)
        .count();
    let (before, rest) = value.split_at(from);
    let (number, after) = rest.split_at(digits);
    let n: u64 = number.parse().unwrap_or(1);
    let changed = match how % 8 {
        0 => 0,
        1 => 1,
        2 => n.wrapping_add(1),
        3 => n / 2,
        4 => n.saturating_mul(2),
        5 => n.saturating_mul(10),
        6 => n.saturating_mul(1_000),
        _ => n / 10,
    };
    format!("{key}= {before}{changed}{after}")
}
