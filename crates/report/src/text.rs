// SPDX-License-Identifier: MIT OR Apache-2.0
//! Texts for a terminal of a given width.

/// Breaks lines at spaces.
pub fn wrap(text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out
}

/// Each value once, in the order in which it comes first.
pub fn distinct<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for one in all {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

/// A text whose first letter is a capital one.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

/// A text in lines of a width; all but the first begin after `indent` spaces.
pub fn hang(text: &str, width: usize, indent: usize) -> String {
    let text = wrap(text, width.saturating_sub(indent));
    text.replace('\n', &format!("\n{:indent$}", ""))
}

/// Rows as lines of columns, two spaces apart. `right` says which columns have their texts on the
/// right.
pub fn aligned(rows: &[Vec<String>], right: impl Fn(usize) -> bool) -> String {
    let len = |cell: &String| cell.chars().count();
    let columns = rows.first().map_or(0, Vec::len);
    let width = |i: usize| rows.iter().map(|row| len(&row[i])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate();
        let cells = cells.map(|(i, (cell, w))| match right(i) {
            true => format!("{cell:>w$}"),
            false => format!("{cell:w$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// Rows as [`aligned`] draws them, in as many parts as a width needs. Every part begins with the
/// first `keys` columns, and each row of a part is one line.
pub fn folded(
    rows: &[Vec<String>],
    keys: usize,
    width: usize,
    right: impl Fn(usize) -> bool,
) -> String {
    let of = |columns: &[usize]| {
        let take = |row: &Vec<String>| columns.iter().map(|i| row[*i].clone()).collect();
        let rows: Vec<Vec<String>> = rows.iter().map(take).collect();
        aligned(&rows, |i| right(columns[i]))
    };
    let fits = |text: &str| text.lines().all(|line| line.chars().count() <= width);
    let columns = rows.first().map_or(0, Vec::len);
    let mut out = String::new();
    let mut next = keys.min(columns);
    loop {
        let part = |until: usize| -> Vec<usize> { (0..keys).chain(next..until).collect() };
        let all = (next + 1..=columns).rev();
        let until = all
            .clone()
            .find(|until| fits(&of(&part(*until))))
            .unwrap_or((next + 1).min(columns));
        out += &of(&part(until));
        next = until;
        if next >= columns {
            return out;
        }
    }
}

/// Names, each with the lines of a text beside it, in a width. Names begin after `before` spaces.
pub fn listed(rows: &[(&str, String)], columns: usize, before: usize) -> String {
    let names = rows.iter().map(|(name, _)| name.chars().count());
    let width = names.max().unwrap_or(0);
    let indent = before + width + 2;
    let row = |(name, text): &(&str, String)| {
        let lines: Vec<String> = text
            .split('\n')
            .map(|line| hang(line, columns, indent))
            .collect();
        let text = lines.join(&format!("\n{:indent$}", ""));
        format!("{:before$}{name:width$}  {text}\n", "")
    };
    rows.iter().map(row).collect()
}
