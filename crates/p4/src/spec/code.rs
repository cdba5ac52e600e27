// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions with labels.

use std::collections::BTreeSet;
use std::fmt::Write;

/// A place in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Label(usize);

#[derive(Clone, Debug)]
enum Line {
    Place(Label),
    Op {
        name: &'static str,
        to: Option<Label>,
        operands: Vec<String>,
    },
}

/// Instructions in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Code {
    lines: Vec<Line>,
    labels: usize,
}

impl Code {
    pub fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels)
    }

    /// The next instruction is at this label.
    pub fn place(&mut self, label: Label) {
        self.lines.push(Line::Place(label));
    }

    pub fn op<S: Into<String>, const N: usize>(&mut self, name: &'static str, operands: [S; N]) {
        self.lines.push(Line::Op {
            name,
            to: None,
            operands: operands.into_iter().map(Into::into).collect(),
        });
    }

    /// An instruction without operands.
    pub fn bare(&mut self, name: &'static str) {
        self.op::<&str, 0>(name, []);
    }

    pub fn jump(&mut self, name: &'static str, to: Label, operands: &[&str]) {
        let operands = operands.iter().map(|o| (*o).to_owned()).collect();
        self.lines.push(Line::Op {
            name,
            to: Some(to),
            operands,
        });
    }

    pub fn is_used(&self, label: Label) -> bool {
        let uses = |line: &Line| matches!(line, Line::Op { to: Some(to), .. } if *to == label);
        self.lines.iter().any(uses)
    }

    /// The instructions as text. Labels of one place are one; a jump to the next instruction, and
    /// what no path reaches, are left out.
    pub fn text(&self) -> String {
        let mut lines = self.lines.clone();
        while shorten(&mut lines) {}
        let at = |label: Label| {
            let place = lines
                .iter()
                .position(|l| matches!(l, Line::Place(p) if *p == label));
            let place = place.expect("a label that is placed");
            let ops = |l: &&Line| matches!(l, Line::Op { .. });
            lines[..place].iter().filter(ops).count()
        };
        let ops = lines.iter().filter_map(|line| match line {
            Line::Op { name, to, operands } => Some((name, to, operands)),
            Line::Place(_) => None,
        });
        let ops: Vec<_> = ops.collect();
        let targets: BTreeSet<usize> = ops.iter().filter_map(|(_, to, _)| to.map(at)).collect();
        let name = |place: usize| format!("L{}", targets.range(..place).count());
        let mut text = String::new();
        for (place, (op, to, operands)) in ops.iter().enumerate() {
            text.push('\t');
            if targets.contains(&place) {
                let _ = write!(text, "{} : ", name(place));
            }
            text.push_str(op);
            if let Some(to) = to {
                let _ = write!(text, " {}", name(at(*to)));
            }
            for operand in *operands {
                let _ = write!(text, " {operand}");
            }
            text.push('\n');
        }
        text
    }
}

/// Takes one useless instruction out, if there is one.
fn shorten(lines: &mut Vec<Line>) -> bool {
    let used: BTreeSet<Label> = lines
        .iter()
        .filter_map(|line| match line {
            Line::Op { to, .. } => *to,
            Line::Place(_) => None,
        })
        .collect();
    let before = lines.len();
    lines.retain(|line| !matches!(line, Line::Place(label) if !used.contains(label)));
    let ends = |line: &Line| match line {
        Line::Op { name, .. } => ["jmp", "return", "drop"].contains(name),
        Line::Place(_) => false,
    };
    let mut useless = None;
    for (i, line) in lines.iter().enumerate() {
        let Line::Op { name, to, .. } = line else {
            continue;
        };
        if i > 0 && ends(&lines[i - 1]) {
            useless = Some(i);
            break;
        }
        let next = lines[i + 1..].iter().map_while(|line| match line {
            Line::Place(label) => Some(*label),
            Line::Op { .. } => None,
        });
        let mut next = next;
        if *name == "jmp" && to.is_some_and(|to| next.any(|label| label == to)) {
            useless = Some(i);
            break;
        }
    }
    useless.map(|i| lines.remove(i));
    lines.len() < before
}
