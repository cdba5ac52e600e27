// SPDX-License-Identifier: MIT OR Apache-2.0
//! The modules of a crate and the paths in their sources, read without a compiler: comments,
//! strings and tests are left out.

use std::collections::{BTreeMap, BTreeSet};

/// A module or an item by its names from the crate's root on.
pub(crate) type Path = Vec<String>;

/// A module of a crate.
#[derive(Default)]
pub(crate) struct Module {
    /// Paths that the module's text names, from the crate's root on.
    pub paths: Vec<Path>,
    /// Items that the module declares.
    pub items: BTreeSet<String>,
    /// Names that `use` gives to items of other modules.
    pub names: BTreeMap<String, Path>,
    /// Modules of which `use` takes all items.
    pub globs: Vec<Path>,
}

/// Reads the files of a crate, each with its path in the source folder.
pub(crate) fn read(files: &[(String, String)]) -> BTreeMap<Path, Module> {
    // A test with a file of its own may be declared under another name than the file's.
    let files = files
        .iter()
        .filter(|(path, _)| !path.ends_with("_tests.rs"));
    let words = files.map(|(path, text)| (module_of(path), words(text)));
    let words: Vec<(Path, Vec<String>)> = words.collect();
    let known: BTreeSet<Path> = words.iter().map(|(module, _)| module.clone()).collect();
    let mut tests = BTreeSet::new();
    let mut all: BTreeMap<Path, Module> = BTreeMap::new();
    for (module, words) in words {
        let mut reader = Reader {
            words: without_tests(&words, &module, &mut tests),
            at: 0,
            known: &known,
            inside: vec![(module.clone(), 0)],
            depth: 0,
            module: all.remove(&module).unwrap_or_default(),
        };
        reader.read();
        all.insert(module, reader.module);
    }
    all.retain(|module, _| !tests.iter().any(|test: &Path| module.starts_with(test)));
    all
}

/// The path of something in a module.
fn inside(module: &[String], name: &str) -> Path {
    let mut path = module.to_vec();
    path.push(name.to_owned());
    path
}

fn module_of(path: &str) -> Path {
    let path = path.trim_end_matches(".rs");
    let mut names: Path = path.split('/').map(str::to_owned).collect();
    let own = ["lib", "main", "mod"];
    names.pop_if(|last| own.contains(&last.as_str()));
    names
}

/// The words and signs of a text. `::` is one word; strings and characters are none.
fn words(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\n');
    let until = |mut i: usize, end: &str| {
        let end: Vec<char> = end.chars().collect();
        while i < chars.len() && !chars[i..].starts_with(&end) {
            i += if end[0] == '"' && end.len() == 1 && at(i) == '\\' {
                2
            } else {
                1
            };
        }
        i + end.len()
    };
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let (mut words, mut i) = (Vec::new(), 0);
    while i < chars.len() {
        match (at(i), at(i + 1)) {
            ('/', '/') => i = until(i, "\n"),
            ('/', '*') => i = until(i, "*/"),
            ('"', _) => i = until(i + 1, "\""),
            ('r', '"' | '#') if at(i + 1) == '"' || at(i + 2) == '"' || at(i + 2) == '#' => {
                let signs = chars[i + 1..].iter().take_while(|&&c| c == '#').count();
                i = until(i + 2 + signs, &format!("\"{}", "#".repeat(signs)));
            }
            ('\'', '\\') => i = until(i + 3, "'"),
            ('\'', _) if at(i + 2) == '\'' => i += 3,
            (':', ':') => {
                words.push("::".to_owned());
                i += 2;
            }
            (c, _) if is_name(c) => {
                let name: String = chars[i..].iter().take_while(|&&c| is_name(c)).collect();
                i += name.chars().count();
                words.push(name);
            }
            (c, _) => {
                if !c.is_whitespace() {
                    words.push(c.to_string());
                }
                i += 1;
            }
        }
    }
    words
}

/// Leaves out the items under `#[cfg(test)]`, and puts the modules that these declare into `tests`.
fn without_tests(words: &[String], module: &Path, tests: &mut BTreeSet<Path>) -> Vec<String> {
    let mut left = Vec::new();
    let mut i = 0;
    while i < words.len() {
        let starts = ["#", "[", "cfg", "(", "test", ")", "]"];
        if words.len() < i + starts.len() || words[i..i + starts.len()] != starts {
            left.push(words[i].clone());
            i += 1;
            continue;
        }
        i += starts.len();
        let ends = |w: &String| w == ";" || w == "{";
        let end = words[i..]
            .iter()
            .position(ends)
            .map_or(words.len(), |n| i + n);
        if let [.., mode, name] = &words[i..end]
            && mode == "mod"
        {
            tests.insert(inside(module, name));
        }
        i = end;
        let mut depth = 0;
        while i < words.len() {
            match words[i].as_str() {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            i += 1;
            if depth == 0 {
                break;
            }
        }
    }
    left
}

/// Reads the words of one file.
struct Reader<'a> {
    words: Vec<String>,
    at: usize,
    known: &'a BTreeSet<Path>,
    /// The file's module and the modules written in it around this word, each with the number of
    /// braces around it.
    inside: Vec<(Path, usize)>,
    depth: usize,
    module: Module,
}

impl Reader<'_> {
    fn word(&self, n: usize) -> &str {
        self.words.get(n).map_or("", String::as_str)
    }

    fn read(&mut self) {
        let declares = [
            "fn", "struct", "enum", "trait", "type", "const", "static", "union",
        ];
        while self.at < self.words.len() {
            let word = self.words[self.at].clone();
            let next = self.word(self.at + 1).to_owned();
            match word.as_str() {
                "{" => self.depth += 1,
                "}" => {
                    self.depth = self.depth.saturating_sub(1);
                    self.inside.pop_if(|(_, depth)| *depth > self.depth);
                }
                "mod" if self.word(self.at + 2) == "{" => {
                    let inner = inside(self.here(), &next);
                    self.inside.push((inner, self.depth + 1));
                    self.module.items.insert(next);
                }
                "macro_rules" => {
                    let name = self.word(self.at + 2).to_owned();
                    self.module.items.insert(name);
                }
                "use" => {
                    self.at += 1;
                    self.tree(None, true);
                    continue;
                }
                "crate" | "super" | "self" if next == "::" => {
                    self.tree(None, false);
                    continue;
                }
                _ if declares.contains(&word.as_str())
                    && self.depth == self.inside.last().map_or(0, |(_, depth)| *depth) =>
                {
                    self.module.items.insert(next);
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    /// The module around this word.
    fn here(&self) -> &Path {
        &self.inside.last().expect("a file is a module").0
    }

    /// The first name of a path: where it leads to, if that is in this crate.
    fn first(&self, name: &str) -> Option<Path> {
        let here = self.here();
        let child = inside(here, name);
        match name {
            "crate" => Some(Path::new()),
            "self" => Some(here.clone()),
            "super" => Some(here[..here.len().saturating_sub(1)].to_vec()),
            _ => self.known.contains(&child).then_some(child),
        }
    }

    /// A path, or a tree of paths in braces, behind `base`. `named`: in a `use`, which gives names.
    fn tree(&mut self, base: Option<Path>, named: bool) {
        let outside = Path::from([String::new()]);
        let mut path = base;
        loop {
            let word = self.word(self.at).to_owned();
            self.at += 1;
            match word.as_str() {
                "{" => {
                    while !["}", ""].contains(&self.word(self.at)) {
                        self.tree(path.clone(), named);
                        self.at += usize::from(self.word(self.at) == ",");
                    }
                    self.at += 1;
                    return;
                }
                "*" => {
                    self.module.globs.extend(path.clone());
                    self.module.paths.extend(path);
                    return;
                }
                "self" if path.is_some() => {}
                "super" if path.is_some() => {
                    path.as_mut().and_then(Path::pop);
                }
                name => {
                    path = Some(match path {
                        None => self.first(name).unwrap_or(outside.clone()),
                        Some(path) => inside(&path, name),
                    });
                }
            }
            if self.word(self.at) != "::" {
                break;
            }
            self.at += 1;
        }
        let Some(path) = path.filter(|path| !path.starts_with(&outside)) else {
            return;
        };
        let mut name = path.last().cloned();
        if named && self.word(self.at) == "as" {
            name = Some(self.word(self.at + 1).to_owned());
            self.at += 2;
        }
        if let (true, Some(name)) = (named && self.inside.len() == 1, name) {
            self.module.names.insert(name, path.clone());
        }
        self.module.paths.push(path);
    }
}
