// SPDX-License-Identifier: MIT OR Apache-2.0
//! The preprocessor: `#include`, `#define` without parameters, and conditions. The architecture's
//! own files come from `arch`.

use std::collections::BTreeMap;

use crate::error::{Error, Place, Result};
use crate::lex::{Kind, Token, lex};

/// Reads an included file. Its name is that of the `#include`, beside the file that includes it:
/// `"../headers.p4"` in `a/b/c.p4` is `a/headers.p4`.
pub type Loader<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// `#define`s given from outside, as with a compiler's `-D`.
pub type Defines = BTreeMap<String, String>;

const NESTED: u32 = 60;

/// Names defined by names.
const DEFINED: usize = 100;

/// Tokens and expansions of a whole program, and included files.
const TOKENS: usize = 2_000_000;
const FILES: usize = 1_000;

struct Pre<'a> {
    load: &'a Loader<'a>,
    defines: BTreeMap<String, Vec<Token>>,
    included: Vec<String>,
    /// Tokens and expansions so far.
    work: usize,
    out: Vec<Token>,
}

/// The tokens of a file and of what it includes.
pub(crate) fn tokens(
    file: &str,
    text: &str,
    defines: &Defines,
    load: &Loader<'_>,
) -> Result<Vec<Token>> {
    let mut pre = Pre {
        load,
        defines: BTreeMap::new(),
        included: Vec::new(),
        work: 0,
        out: Vec::new(),
    };
    for (name, value) in defines {
        let value = lex(&format!("-D{name}"), value)?;
        pre.defines.insert(name.clone(), value);
    }
    pre.file(file, text, 0)?;
    Ok(pre.out)
}

impl Pre<'_> {
    fn file(&mut self, file: &str, text: &str, depth: u32) -> Result<()> {
        // For each open condition: whether its lines count, and whether one of its branches did.
        let mut open: Vec<(bool, bool, Place)> = Vec::new();
        for token in lex(file, text)? {
            let counts = open.iter().all(|(counts, ..)| *counts);
            let Kind::Directive(line) = &token.kind else {
                if counts {
                    self.expand(token, &mut Vec::new())?;
                }
                continue;
            };
            let line = line.trim();
            let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let rest = without_comment(rest);
            let place = &token.place;
            match word {
                "if" | "ifdef" | "ifndef" => {
                    let yes = counts && self.condition(word, rest, place)?;
                    open.push((yes, yes, place.clone()));
                }
                "elif" | "else" => {
                    let Some((_, done, at)) = open.pop() else {
                        return Err(Error::new(place, format!("`#{word}` without `#if`")));
                    };
                    let outer = open.iter().all(|(counts, ..)| *counts);
                    let yes =
                        !done && outer && (word == "else" || self.condition("if", rest, place)?);
                    open.push((yes, done || yes, at));
                }
                "endif" => {
                    let without = || Error::new(place, "`#endif` without `#if`");
                    open.pop().ok_or_else(without)?;
                }
                _ if counts => self.directive(word, rest, place, depth)?,
                _ => {}
            }
        }
        match open.pop() {
            Some((.., place)) => Err(Error::new(&place, "this `#if` has no `#endif`")),
            None => Ok(()),
        }
    }

    fn directive(&mut self, word: &str, rest: &str, place: &Place, depth: u32) -> Result<()> {
        match word {
            "include" => self.include(rest, place, depth),
            "define" => {
                let end = rest
                    .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .unwrap_or(rest.len());
                if rest[end..].starts_with('(') {
                    let what = format!(
                        "`#define {}` with parameters is not supported",
                        &rest[..end]
                    );
                    return Err(Error::new(place, what));
                }
                let mut value = lex(&place.file, &rest[end..])?;
                for token in &mut value {
                    token.place = place.clone();
                }
                self.defines.insert(rest[..end].to_owned(), value);
                Ok(())
            }
            "undef" => {
                self.defines.remove(rest.trim());
                Ok(())
            }
            "error" => Err(Error::new(place, rest)),
            "pragma" | "line" | "warning" => Ok(()),
            _ => Err(Error::new(place, format!("`#{word}` is not supported"))),
        }
    }

    fn include(&mut self, rest: &str, place: &Place, depth: u32) -> Result<()> {
        let written = rest.trim();
        let between = |open: char, close: char| {
            written
                .strip_prefix(open)
                .and_then(|r| r.strip_suffix(close))
        };
        let (own, arch) = match (between('"', '"'), between('<', '>')) {
            (Some(name), _) => (Some(name), name),
            (None, Some(name)) => (None, name),
            (None, None) => {
                let what = "write #include \"FILE\", or <core.p4>, <tna.p4>, <v1model.p4>";
                return Err(Error::new(place, what));
            }
        };
        // A file of the user's may have the name of an architecture's.
        let beside = own.map(|name| beside(&place.file, name));
        if let Some(path) = &beside
            && let Some(text) = (self.load)(path)
        {
            return self.included(path, &text, place, depth);
        }
        // The architecture's files guard themselves. Others may mean to be included again.
        let name = arch;
        let arch = crate::arch::file(name);
        if arch.is_some() && self.included.iter().any(|i| i == name) {
            return Ok(());
        }
        match arch {
            Some(text) => self.included(name, text, place, depth),
            None => {
                let what = match beside {
                    Some(path) => format!("there is no file {path}"),
                    None => format!(
                        "there is no <{name}>: those here are <core.p4>, <tna.p4>, <v1model.p4>"
                    ),
                };
                Err(Error::new(place, what))
            }
        }
    }

    fn included(&mut self, name: &str, text: &str, place: &Place, depth: u32) -> Result<()> {
        if depth > NESTED {
            return Err(Error::new(place, "files include each other without an end"));
        }
        if self.included.len() == FILES {
            let what = format!("more than {FILES} files are included");
            return Err(Error::new(place, what));
        }
        self.included.push(name.to_owned());
        self.file(name, text, depth + 1)
    }

    /// Adds a token, or what it is defined as. `within` are the names that are being expanded.
    fn expand(&mut self, token: Token, within: &mut Vec<String>) -> Result<()> {
        self.work += 1;
        if self.work > TOKENS || within.len() > DEFINED {
            let what = "with all that is defined and included the program is too long";
            return Err(Error::new(&token.place, what));
        }
        let defined = match &token.kind {
            Kind::Word(word) if !within.iter().any(|w| **w == **word) => self
                .defines
                .get(&**word)
                .cloned()
                .map(|d| (word.clone(), d)),
            _ => None,
        };
        let Some((word, body)) = defined else {
            self.out.push(token);
            return Ok(());
        };
        within.push(word.to_string());
        for mut inner in body {
            inner.place = token.place.clone();
            self.expand(inner, within)?;
        }
        within.pop();
        Ok(())
    }

    fn condition(&self, word: &str, rest: &str, place: &Place) -> Result<bool> {
        let name = rest.trim();
        match word {
            "ifdef" => Ok(self.defines.contains_key(name)),
            "ifndef" => Ok(!self.defines.contains_key(name)),
            _ => {
                let tokens = lex(&place.file, rest)?;
                let mut at = Condition {
                    pre: self,
                    tokens: &tokens,
                    at: 0,
                    depth: 0,
                };
                let value = at.any();
                value
                    .filter(|_| at.at == tokens.len())
                    .map(|v| v != 0)
                    .ok_or_else(|| Error::new(place, format!("`#if {name}` is not supported")))
            }
        }
    }
}

/// The path of `name` beside `file`, without `.` and `..` where they can be resolved.
fn beside(file: &str, name: &str) -> String {
    if name.starts_with('/') {
        return name.to_owned();
    }
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = Vec::new();
    let root = file.starts_with('/');
    for part in folder.split('/').chain(name.split('/')) {
        match (part, parts.last()) {
            ("" | ".", _) => {}
            ("..", Some(last)) if *last != ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let path = parts.join("/");
    if root { format!("/{path}") } else { path }
}

fn without_comment(rest: &str) -> &str {
    let end = [rest.find("//"), rest.find("/*")];
    let end = end.into_iter().flatten().min().unwrap_or(rest.len());
    &rest[..end]
}

/// Numbers, names, `defined`, `!`, comparisons, `&&` and `||`.
struct Condition<'a> {
    pre: &'a Pre<'a>,
    tokens: &'a [Token],
    at: usize,
    depth: usize,
}

impl Condition<'_> {
    fn sign(&mut self, signs: &[&'static str]) -> Option<&'static str> {
        match self.tokens.get(self.at).map(|t| &t.kind) {
            Some(Kind::Sign(s)) if signs.contains(s) => {
                self.at += 1;
                Some(s)
            }
            _ => None,
        }
    }

    fn any(&mut self) -> Option<u128> {
        let mut left = self.all()?;
        while self.sign(&["||"]).is_some() {
            let right = self.all()?;
            left = u128::from(left != 0 || right != 0);
        }
        Some(left)
    }

    fn all(&mut self) -> Option<u128> {
        let mut left = self.compared()?;
        while self.sign(&["&&"]).is_some() {
            let right = self.compared()?;
            left = u128::from(left != 0 && right != 0);
        }
        Some(left)
    }

    fn compared(&mut self) -> Option<u128> {
        let left = self.one()?;
        let Some(sign) = self.sign(&["==", "!=", "<", ">", "<=", ">="]) else {
            return Some(left);
        };
        let right = self.one()?;
        Some(u128::from(match sign {
            "==" => left == right,
            "!=" => left != right,
            "<" => left < right,
            ">" => left > right,
            "<=" => left <= right,
            _ => left >= right,
        }))
    }

    fn one(&mut self) -> Option<u128> {
        self.depth += 1;
        let value = if self.depth > DEFINED {
            None
        } else {
            self.whole_one()
        };
        self.depth -= 1;
        value
    }

    fn whole_one(&mut self) -> Option<u128> {
        if self.sign(&["!"]).is_some() {
            return Some(u128::from(self.one()? == 0));
        }
        if self.sign(&["("]).is_some() {
            let value = self.any()?;
            self.sign(&[")"])?;
            return Some(value);
        }
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        match &token.kind {
            Kind::Number(n) => Some(n.value),
            Kind::Word(w) if &**w == "defined" => {
                let bracket = self.sign(&["("]).is_some();
                let Kind::Word(name) = &self.tokens.get(self.at)?.kind else {
                    return None;
                };
                self.at += 1;
                if bracket {
                    self.sign(&[")"])?;
                }
                Some(u128::from(self.pre.defines.contains_key(&**name)))
            }
            // A name without a value is zero, as in C.
            Kind::Word(name) => match self.pre.defines.get(&**name).map(Vec::as_slice) {
                Some([token]) => match &token.kind {
                    Kind::Number(n) => Some(n.value),
                    _ => None,
                },
                Some(_) => None,
                None => Some(0),
            },
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, include: &str) -> Vec<String> {
        let load = |_: &str| Some(include.to_owned());
        let tokens = tokens("a.p4", text, &Defines::new(), &load).unwrap_or_else(|e| panic!("{e}"));
        tokens
            .into_iter()
            .map(|token| match token.kind {
                Kind::Word(word) => word.to_string(),
                Kind::Number(n) => n.value.to_string(),
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn a_file_that_is_included_again_under_another_name_gives_its_other_part() {
        let part =
            "#ifdef FIRST\none\n#elif defined(SECOND) && LEVEL >= 2\ntwo\n#else\nnone\n#endif";
        let text = "#include \"p\"\n#define FIRST\n#include \"p\"\n#undef FIRST\n#define SECOND\n\
                    #define LEVEL 2\n#include \"p\"\nLEVEL";
        assert_eq!(words(text, part), ["none", "one", "two", "2"]);
    }

    #[test]
    fn a_name_is_that_of_a_file_beside_the_one_that_includes_it() {
        for (file, name, path) in [
            ("a.p4", "b.p4", "b.p4"),
            ("x/a.p4", "b.p4", "x/b.p4"),
            ("x/y/a.p4", "../b.p4", "x/b.p4"),
            ("x/a.p4", "../../b.p4", "../b.p4"),
            ("../a.p4", "../b.p4", "../../b.p4"),
            ("/x/a.p4", "./y/../b.p4", "/x/b.p4"),
            ("x/a.p4", "/b.p4", "/b.p4"),
        ] {
            assert_eq!(beside(file, name), path, "{file} {name}");
        }
        let load = |name: &str| (name == "x/inner.p4").then(|| "inner".to_owned());
        let from = |file: &str| tokens(file, "#include \"inner.p4\"", &Defines::new(), &load);
        assert_eq!(from("x/a.p4").map(|t| t.len()), Ok(1));
        let error = from("y/a.p4").map(|t| t.len()).expect_err("not beside it");
        assert_eq!(error.to_string(), "y/a.p4:1:1: there is no file y/inner.p4");
    }

    #[test]
    fn files_that_include_themselves_and_open_conditions_are_refused() {
        let load = |_: &str| Some("#include \"a\"".to_owned());
        for (text, said) in [
            ("#include \"a\"", "without an end"),
            ("#if 1\n", "a.p4:1:1: this `#if` has no `#endif`"),
            ("x\n#endif", "a.p4:2:1"),
            ("#define F(x) x", "with parameters"),
            ("#include tna.p4", "write #include"),
            ("#include <tofino1arch.p4>", "there is no <tofino1arch.p4>"),
            ("#include <a>", "there is no <a>"),
        ] {
            let error = tokens("a.p4", text, &Defines::new(), &load).expect_err(text);
            assert!(error.to_string().contains(said), "{error}");
        }
    }
}
