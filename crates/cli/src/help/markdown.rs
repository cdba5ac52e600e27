// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pages of docs/ as text for a terminal.
//!
//! Only what these pages use: headings, paragraphs, lists, tables, blocks of code. A table that is
//! wider than the terminal is shown as a list of terms.

use std::fmt::Write as _;

use cemark_report::text;

/// Columns by which explanations and code are indented.
const INDENT: usize = 4;

/// A part of a page in the language of Markdown, for a terminal of this width.
pub(super) fn render(page: &str, width: usize) -> String {
    let mut out = String::new();
    let mut paragraph: Vec<&str> = Vec::new();
    let mut table: Vec<Vec<String>> = Vec::new();
    let mut in_code = false;
    for line in page.lines() {
        if line.starts_with("```") {
            flush(&mut out, &mut paragraph, &mut table, width);
            in_code = !in_code;
            if !in_code {
                out.push('\n');
            }
            continue;
        }
        if in_code {
            let _ = writeln!(out, "{:INDENT$}{line}", "");
            continue;
        }
        let is_item = line.starts_with("- ");
        if line.starts_with('|') {
            flush(&mut out, &mut paragraph, &mut Vec::new(), width);
            if !line.starts_with("|---") {
                table.push(cells(line));
            }
            continue;
        }
        if is_item || !table.is_empty() || line.trim().is_empty() || line.starts_with('#') {
            flush(&mut out, &mut paragraph, &mut table, width);
        }
        if line.starts_with('#') {
            heading(&mut out, &plain(line.trim_start_matches('#').trim()));
        } else if line.trim().is_empty() {
            blank(&mut out);
        } else if !line.starts_with("<!--") && !line.starts_with("![") {
            paragraph.push(line);
        }
    }
    flush(&mut out, &mut paragraph, &mut table, width);
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn heading(out: &mut String, text: &str) {
    blank(out);
    let line = "-".repeat(text.chars().count());
    let _ = writeln!(out, "{text}\n{line}");
}

/// Adds an empty line, unless there is one already.
fn blank(out: &mut String) {
    if !out.is_empty() && !out.ends_with("\n\n") {
        out.push('\n');
    }
}

/// Writes the paragraph or the table that has been collected.
fn flush(out: &mut String, paragraph: &mut Vec<&str>, rows: &mut Vec<Vec<String>>, width: usize) {
    if !paragraph.is_empty() {
        let text = plain(&std::mem::take(paragraph).join(" "));
        match text.strip_prefix("- ") {
            Some(item) => hang(out, "- ", item, 2, width),
            None => hang(out, "", &text, 0, width),
        }
    }
    if !rows.is_empty() {
        table(out, &std::mem::take(rows), width);
    }
}

/// Writes a text whose lines after the first are indented.
fn hang(out: &mut String, first: &str, text: &str, indent: usize, width: usize) {
    let _ = writeln!(
        out,
        "{first}{}",
        text::hang(text, width.max(indent + 20), indent)
    );
}

/// The cells of a line of a table.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim().trim_start_matches('|');
    let line = line.strip_suffix('|').unwrap_or(line).replace("\\|", "\0");
    line.split('|')
        .map(|cell| plain(&cell.replace('\0', "|")).trim().to_owned())
        .collect()
}

/// In columns where they fit, else each first cell with its explanation below.
fn table(out: &mut String, rows: &[Vec<String>], width: usize) {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let len = |row: &Vec<String>, i: usize| row.get(i).map_or(0, |cell| cell.chars().count());
    let widths: Vec<usize> = (0..count)
        .map(|i| rows.iter().map(|row| len(row, i)).max().unwrap_or(0))
        .collect();
    let (last, first) = widths.split_last().unwrap_or((&0, &[]));
    let before: usize = first.iter().map(|w| w + 2).sum();
    // The last column may be wrapped, if it has room to be read.
    if before + (*last).min(40) > width {
        return terms(out, rows, width);
    }
    for row in rows {
        let mut line = String::new();
        for (cell, w) in row.iter().zip(first) {
            let _ = write!(line, "{cell:w$}  ");
        }
        let text = row.get(count - 1).map_or("", String::as_str);
        hang(out, &line, text, before, width);
    }
}

/// Each row as a term with its explanation: `name (middle cells)`, and the last cell below.
fn terms(out: &mut String, rows: &[Vec<String>], width: usize) {
    for row in rows.iter().skip(1) {
        let (Some((name, rest)), Some(last)) = (row.split_first(), row.last()) else {
            continue;
        };
        let middle: Vec<&str> = rest[..rest.len().saturating_sub(1)]
            .iter()
            .map(String::as_str)
            .filter(|cell| !cell.is_empty())
            .collect();
        match middle.is_empty() {
            true => hang(out, "", name, 0, width),
            false => hang(
                out,
                "",
                &format!("{name} ({})", middle.join("; ")),
                2,
                width,
            ),
        }
        let _ = write!(out, "{:INDENT$}", "");
        hang(out, "", last, INDENT, width);
    }
}

/// A line without the marks of bold type and with links as their text.
fn plain(text: &str) -> String {
    let text = without_stars(&text.replace("\\_", "_"));
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some((before, name, after)) = link(rest) {
        out.push_str(before);
        out.push_str(name);
        rest = after;
    }
    out + rest
}

/// Without the stars of bold and slanted type. Those in code, escaped ones and those between spaces
/// are no type.
fn without_stars(text: &str) -> String {
    let mut out = String::new();
    let (mut in_code, mut before) = (false, ' ');
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        in_code ^= c == '`';
        let next = rest.peek().copied().unwrap_or(' ');
        match c {
            '\\' if next == '*' && !in_code => {
                rest.next();
                out.push('*');
            }
            '*' if !in_code && (before != ' ' || next != ' ') => {}
            _ => out.push(c),
        }
        before = c;
    }
    out
}

/// The text before a link, its name, and the text after it.
fn link(text: &str) -> Option<(&str, &str, &str)> {
    let middle = text.find("](")?;
    let open = text[..middle].rfind('[')?;
    let end = text[middle..].find(')')? + middle;
    Some((&text[..open], &text[open + 1..middle], &text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::render;

    #[test]
    fn a_page_becomes_lines_that_fit() {
        let page = "# Title\n\nSome **bold** *words* with a [link](x.md#y) that go on\nand on.\n\n\
                    - first item of a list\n- second\n\n```toml\nkey = 1\n```\n\n\
                    | a | b |\n|---|---|\n| `x` | one \\| two |\n";
        let text = render(page, 30);
        assert!(text.lines().all(|l| l.chars().count() <= 30), "{text}");
        for part in [
            "Title\n-----\n",
            "Some bold words with a link",
            "- first item of a list\n- second\n",
            "    key = 1\n",
            "`x`  one | two\n",
        ] {
            assert!(text.contains(part), "{part:?} is not in {text}");
        }
    }

    #[test]
    fn a_wide_table_becomes_terms() {
        let row = "| `buffer` | 1B to 4GB | `1MB` | buffer of a port, which is long enough to \
                   need a second line |";
        let text = render(
            &format!("| key | value | default | meaning |\n|---|---|\n{row}\n"),
            50,
        );
        assert!(
            text.starts_with("`buffer` (1B to 4GB; `1MB`)\n    buffer of a port,"),
            "{text}"
        );
        assert!(text.lines().all(|l| l.chars().count() <= 50), "{text}");
    }
}
