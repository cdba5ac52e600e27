// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark doctor`: each rule, each platform, each form of the answer.
#![allow(missing_docs)]

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use cemark_platform::{Document, RULES, judge, recognise};
use serde_json::Value;

/// Every secret of the clean configurations begins with it.
const SECRET: &str = "hunter2";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../platform/tests")
}

/// Names of the clean configurations.
fn clean() -> Vec<String> {
    let files = fs::read_dir(folder().join("clean")).expect("a folder");
    let mut names: Vec<String> = files
        .map(|file| {
            file.expect("a file")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

fn text(name: &str) -> String {
    fs::read_to_string(folder().join("clean").join(name)).expect("a configuration")
}

/// Numbers of the rules that find something, in a text that must be readable.
fn found(text: &str) -> BTreeSet<&'static str> {
    let document = Document::of(text).unwrap_or_else(|e| panic!("{e}"));
    let platform = recognise(&document).unwrap_or_else(|e| panic!("{e}"));
    let switches = platform.read(&[&document]);
    let switches = switches.unwrap_or_else(|(_, e)| panic!("{e}"));
    switches
        .iter()
        .flat_map(|switch| judge(platform, switch))
        .map(|finding| finding.rule.id)
        .collect()
}

/// A run on standard input.
fn doctor(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cemark"))
        .arg("doctor")
        .args(args)
        .env("COLUMNS", "100")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut pipe = child.stdin.take().expect("a pipe");
    // A run that reads nothing closes the pipe.
    let _ = pipe.write_all(input.as_bytes());
    drop(pipe);
    child.wait_with_output().expect("an end")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn said(output: &Output) -> String {
    out(output) + &String::from_utf8_lossy(&output.stderr)
}

#[derive(Debug)]
struct Mistake {
    file: String,
    replace: String,
    with: String,
    also: Vec<String>,
    finds: BTreeSet<String>,
}

impl Mistake {
    fn made(&self) -> String {
        let clean = text(&self.file);
        assert!(clean.contains(&self.replace), "{self:?}");
        let mut made = clean.replace(&self.replace, &self.with);
        if let [from, to] = &self.also[..] {
            // Numbers are exchanged at once: the second pair must not meet the first.
            let kept = clean
                .replace(from, "\u{1}")
                .replace(&self.replace, &self.with);
            assert!(kept.contains('\u{1}'), "{self:?}");
            made = kept.replace('\u{1}', to);
        }
        made
    }
}

fn mistakes() -> Vec<Mistake> {
    let text = fs::read_to_string(folder().join("mistakes.toml")).expect("a table");
    let table: toml::Table = toml::from_str(&text).expect("TOML");
    let all = table["mistake"].as_array().expect("an array");
    let mistake = |row: &toml::Value| {
        let word = |key: &str| row[key].as_str().expect("a text").to_owned();
        let words = |key: &str| -> Vec<String> {
            let list = row.get(key).and_then(toml::Value::as_array);
            let texts = list
                .into_iter()
                .flatten()
                .map(|v| v.as_str().expect("a text").to_owned());
            texts.collect()
        };
        Mistake {
            file: word("file"),
            replace: word("replace"),
            with: word("with"),
            also: words("also"),
            finds: words("finds").into_iter().collect(),
        }
    };
    all.iter().map(mistake).collect()
}

#[test]
fn no_rule_finds_anything_in_a_clean_configuration() {
    for name in clean() {
        assert_eq!(found(&text(&name)), BTreeSet::new(), "{name}");
    }
}

#[test]
fn each_mistake_is_found_by_its_rules_and_by_no_other() {
    let mut wrong = Vec::new();
    for mistake in mistakes() {
        let found: BTreeSet<String> = found(&mistake.made())
            .into_iter()
            .map(str::to_owned)
            .collect();
        if found != mistake.finds {
            wrong.push(format!("{mistake:?}\n   found {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_rule_has_a_mistake() {
    let all: BTreeSet<String> = mistakes().into_iter().flat_map(|m| m.finds).collect();
    for rule in RULES {
        assert!(all.contains(rule.id), "{}", rule.id);
    }
}

#[test]
fn exit_codes_say_clean_found_and_unreadable() {
    let clean = doctor(&["-"], &text("sonic.json"));
    assert_eq!(clean.status.code(), Some(0), "{}", said(&clean));
    assert!(
        out(&clean).contains("no finding in what was read"),
        "{}",
        out(&clean)
    );
    let found = doctor(&["-"], &text("sonic.json").replace("ecn_all", "ecn_none"));
    assert_eq!(found.status.code(), Some(1), "{}", said(&found));
    for unreadable in ["", "{", "hello", "[]", "{\"a\": 1}"] {
        let o = doctor(&["-"], unreadable);
        assert_eq!(o.status.code(), Some(2), "{unreadable}: {}", said(&o));
        assert_eq!(out(&o), "");
    }
}

#[test]
fn a_finding_has_its_line_and_the_remedy_in_the_platforms_words() {
    let broken = text("sonic.json").replace("ecn_all", "ecn_none");
    let line = broken
        .lines()
        .position(|l| l.contains("ecn_none"))
        .expect("a line")
        + 1;
    let answer = out(&doctor(&["-"], &broken));
    for part in [
        "error[CE02]",
        &format!("standard input:{line} WRED_PROFILE|AZURE_LOSSLESS|ecn"),
        "Ethernet0, Ethernet4",
        "sonic-db-cli CONFIG_DB hset 'WRED_PROFILE|AZURE_LOSSLESS' ecn ecn_all",
        "not read: MACSEC_PROFILE, SCHEDULER, SNMP_COMMUNITY, TACPLUS",
    ] {
        assert!(answer.contains(part), "{part}\n{answer}");
    }
}

/// A remedy that is said must be one: the mistake is gone where it is applied.
#[test]
fn remedies_of_thresholds_mend_the_mistake() {
    for (from, rule) in [("\"400000\"", "CE05"), ("\"400000\"", "CE07")] {
        let to = if rule == "CE05" {
            "\"2000000\""
        } else {
            "\"1000\""
        };
        let broken = text("sonic.json").replace(from, to);
        let answer = out(&doctor(&["-"], &broken));
        let (_, remedy) = answer.split_once("-gmin ").expect("a remedy");
        let mut words = remedy.split_whitespace();
        let (min, max) = (
            words.next().expect("a number"),
            words.nth(1).expect("a number"),
        );
        let mended = text("sonic.json")
            .replace("\"1600000\"", &format!("\"{max}\""))
            .replace("\"400000\"", &format!("\"{min}\""));
        assert_eq!(found(&mended), BTreeSet::new(), "{rule}: {min} {max}");
    }
}

#[test]
fn json_and_sarif_have_what_the_text_has() {
    let broken = text("sonic.json").replace("ecn_all", "ecn_none");
    let o = doctor(&["-", "--format", "json"], &broken);
    assert_eq!(o.status.code(), Some(1));
    let json: Value = serde_json::from_slice(&o.stdout).expect("JSON");
    let finding = &json["switches"][0]["findings"][0];
    assert_eq!(json["platform"], "sonic");
    assert_eq!((&json["errors"], &json["warnings"]), (&1.into(), &0.into()));
    assert_eq!(finding["rule"], "CE02");
    assert_eq!(finding["places"][0]["file"], "standard input");
    assert_eq!(finding["ports"][1], "Ethernet4");
    let o = doctor(&["-", "--format", "sarif"], &broken);
    assert_eq!(o.status.code(), Some(1));
    let sarif: Value = serde_json::from_slice(&o.stdout).expect("JSON");
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    let result = &run["results"][0];
    let index = result["ruleIndex"].as_u64().expect("a number") as usize;
    assert_eq!(
        run["tool"]["driver"]["rules"][index]["id"],
        result["ruleId"]
    );
    assert_eq!(
        run["tool"]["driver"]["rules"].as_array().map(Vec::len),
        Some(RULES.len())
    );
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "standard%20input");
    assert!(place["region"]["startLine"].as_u64() > Some(1));
}

#[test]
fn files_of_one_switch_are_read_together_and_of_two_are_refused() {
    let folder = std::env::temp_dir().join(format!("cemark-doctor-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).expect("a file");
        path.to_string_lossy().into_owned()
    };
    // The tables of one configuration in two files: queues in one, profiles in the other.
    let whole = text("sonic.json");
    let (before, after) = whole.split_once("  \"WRED_PROFILE\"").expect("a table");
    let first = write(
        "ports.json",
        &format!("{}\n}}", before.trim_end().trim_end_matches(',')),
    );
    let second = write("qos.json", &format!("{{ \"WRED_PROFILE\"{after}"));
    let o = doctor(&[&first, &second], "");
    assert_eq!(o.status.code(), Some(0), "{}", said(&o));
    let o = doctor(&[&first], "");
    assert_eq!(o.status.code(), Some(1), "{}", said(&o));
    let third = write("leaf.cfg", &text("eos.txt"));
    let o = doctor(&[&first, &third], "");
    assert_eq!(o.status.code(), Some(2));
    assert!(said(&o).contains("is of SONiC and"), "{}", said(&o));
    let folder_name = folder.to_string_lossy().into_owned();
    assert_eq!(doctor(&[&folder_name], "").status.code(), Some(2));
    assert_eq!(doctor(&["/nonexistent"], "").status.code(), Some(2));
    fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn an_asic_with_a_database_of_its_own_is_a_switch() {
    let one = text("sonic.json");
    let broken = one.replace("ecn_all", "ecn_none");
    let both = format!("{{\"localhost\": {{}}, \"asic0\": {one}, \"asic1\": {broken}}}");
    let answer = out(&doctor(&["-"], &both));
    assert!(
        answer.contains("error[CE02] asic1: AZURE_LOSSLESS"),
        "{answer}"
    );
    assert!(!answer.contains("asic0: AZURE_LOSSLESS"), "{answer}");
}

/// `sonic-db-dump -y` has a hash for each row.
#[test]
fn a_dump_of_the_database_is_read_as_its_tables() {
    let dump = |text: &str| {
        let tables: Value = serde_json::from_str(text).expect("JSON");
        let mut rows = serde_json::Map::new();
        for (table, of) in tables.as_object().expect("tables") {
            for (row, fields) in of.as_object().expect("rows") {
                let hash = serde_json::json!({ "type": "hash", "value": fields, "ttl": -1 });
                rows.insert(format!("{table}|{row}"), hash);
            }
        }
        Value::Object(rows).to_string()
    };
    let whole = text("sonic.json");
    assert_eq!(found(&dump(&whole)), BTreeSet::new());
    for broken in [
        whole.replace("400000", "2000000"),
        whole.replace("ecn_all", "ecn_none"),
        whole.replace("\"dynamic_th\": \"0\"", "\"dynamic_th\": \"-5\""),
    ] {
        assert_eq!(found(&dump(&broken)), found(&broken));
        assert_ne!(found(&broken), BTreeSet::new());
    }
}

#[test]
fn files_that_are_known_and_not_read_are_named() {
    for (text, name) in [
        (
            "qdisc red 1: dev eth0 root refcnt 2 limit 1000b\n",
            "tc -j -d qdisc show",
        ),
        (
            "- header:\n    model: x\n- set:\n    qos: {}\n",
            "nv config show -o json",
        ),
        ("set class-of-service drop-profiles x\n", "Junos"),
        (
            "default_ecn_red_conf.min_threshold_bytes = 40000\n",
            "before NVUE",
        ),
    ] {
        let o = doctor(&["-"], text);
        assert_eq!(o.status.code(), Some(2));
        assert!(said(&o).contains(name), "{name}: {}", said(&o));
    }
}

#[test]
fn every_rule_is_explained() {
    let all = out(&doctor(&["--explain"], ""));
    for rule in RULES {
        let one = out(&doctor(&["--explain", rule.id], ""));
        assert!(
            one.starts_with(rule.id) && all.contains(rule.name),
            "{}",
            rule.id
        );
        for part in rule.why.split_whitespace() {
            assert!(one.contains(part), "{}: {part}", rule.id);
        }
        assert_eq!(out(&doctor(&["--explain", rule.name], "")), one);
    }
    let o = doctor(&["--explain", "CE77"], "");
    assert_eq!(o.status.code(), Some(2));
    assert!(said(&o).contains("CE07"), "{}", said(&o));
}

/// The page of rules has every rule as the registry has it.
#[test]
fn the_page_has_every_rule() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/doctor.md");
    let written = fs::read_to_string(&page).expect("docs/doctor.md");
    let mut rows = String::from("| rule | name | the mistake | the packets |\n|---|---|---|---|\n");
    for rule in RULES {
        let level = rule.level.name();
        rows += &format!(
            "| {} | `{}` ({level}) | {} | {} |\n",
            rule.id, rule.name, rule.why, rule.packets
        );
    }
    let (begin, end) = ("<!-- rules -->\n", "<!-- end -->");
    let (head, rest) = written.split_once(begin).expect("a mark");
    let (table, tail) = rest.split_once(end).expect("a mark");
    if std::env::var_os("CEMARK_WRITE_DOCS").is_some() {
        fs::write(&page, format!("{head}{begin}{rows}{end}{tail}")).expect("written");
        return;
    }
    assert_eq!(
        table, rows,
        "write the page: CEMARK_WRITE_DOCS=1 cargo test -p cemark --test doctor"
    );
}

#[test]
fn expected_marks_are_those_of_the_public_test_plan() {
    let input = text("sonic.json").replace("\"20\"", "\"100\"");
    let input = input
        .replace("\"400000\"", "\"800000\"")
        .replace("\"1600000\"", "\"1200000\"");
    let o = doctor(
        &["-", "--expect", "--burst", "5000", "--format", "json"],
        &input,
    );
    assert_eq!(o.status.code(), Some(0), "{}", said(&o));
    let rows: Value = serde_json::from_slice(&o.stdout).expect("JSON");
    let row = &rows[0];
    assert_eq!(row["judged_at"], "enqueue");
    assert_eq!(row["surely_marked"], 3_828);
    let mean = row["marked_mean"].as_f64().expect("a number");
    assert!((mean - 4_023.0).abs() < 1.0, "{mean}");
    let text_form = out(&doctor(
        &["-", "--expect", "--packet", "1KB"],
        &text("sonic.json"),
    ));
    assert!(
        text_form.contains("dequeue") && text_form.contains("100 % above"),
        "{text_form}"
    );
    let none = doctor(
        &["-", "--expect"],
        &text("sonic.json").replace("ecn_all", "ecn_none"),
    );
    assert_eq!(none.status.code(), Some(2), "{}", said(&none));
    let huge = doctor(
        &["-", "--expect", "--burst", "99999999999"],
        &text("sonic.json"),
    );
    assert_eq!(huge.status.code(), Some(2), "{}", said(&huge));
}

#[test]
fn a_cell_of_the_user_rounds_thresholds() {
    let input = text("sonic.json")
        .replace("7050CX3", "X")
        .replace("1600000", "401000");
    assert_eq!(doctor(&["-"], &input).status.code(), Some(0));
    let o = doctor(&["-", "--cell", "4KB"], &input);
    assert!(
        out(&o).contains("CE15") && o.status.code() == Some(1),
        "{}",
        said(&o)
    );
    assert_eq!(
        doctor(&["-", "--cell", "256"], &input).status.code(),
        Some(2)
    );
}

/// Without libyang's `yanglint` the test ends early, unless `CEMARK_YANGLINT` is set, as in CI.
#[test]
fn tables_are_validated_against_models() {
    if Command::new("yanglint").arg("--version").output().is_err() {
        assert!(
            std::env::var_os("CEMARK_YANGLINT").is_none(),
            "yanglint is missing"
        );
        return;
    }
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/yang");
    let models = models.to_string_lossy().into_owned();
    let run = |text: &str| doctor(&["-", "--yang", &models], text);
    let whole = text("sonic.json");
    let o = run(&whole);
    assert_eq!(o.status.code(), Some(0), "{}", said(&o));
    for (from, to, complaint) in [
        ("\"20\"", "\"120\"", "green_drop_probability"),
        ("\"400000\"", "\"4e5\"", "green_min_threshold"),
        (
            "\"400000\"",
            "\"1600001\"",
            "the upper threshold is below the lower one",
        ),
        ("\"ecn\"", "\"enc\"", "enc"),
    ] {
        let o = run(&whole.replace(from, to));
        assert_eq!(o.status.code(), Some(1), "{to}: {}", said(&o));
        assert!(out(&o).contains("error[yang]"), "{to}: {}", said(&o));
        assert!(out(&o).contains(complaint), "{to}: {}", said(&o));
        assert!(!said(&o).contains(SECRET), "{}", said(&o));
    }
    // Tables that others refer to, and a condition on another table.
    let o = run(&whole.replace("\"scheduler.1\": {", "\"scheduler.2\": {"));
    assert!(out(&o).contains("scheduler.1"), "{}", said(&o));
    let voq = run(&whole.replace("\"npu\"", "\"voq\""));
    let complaints = out(&voq).matches("error[yang]").count();
    assert!(
        complaints == 1 && out(&voq).contains("!= 'voq'"),
        "{}",
        said(&voq)
    );
    // An empty list of leaves, a field that XML cannot name, a leaf that refers to secrets.
    let mtu = "\"mtu\": \"9100\"";
    for (field, code) in [
        ("\"adv_speeds\": []", 0),
        ("\"adv_speeds\": [\"100000\", \"40000\"]", 0),
        ("\"macsec\": \"spine\"", 0),
        ("\"odd name\": \"1\"", 1),
    ] {
        let o = run(&whole.replace(mtu, &format!("{mtu}, {field}")));
        assert_eq!(o.status.code(), Some(code), "{field}: {}", said(&o));
    }
    // Each ASIC is validated by itself.
    let low = "{ \"A\": { \"green_min_threshold\": \"9\", \"green_max_threshold\": \"1\" } }";
    let asics =
        format!("{{\"asic0\": {{}}, \"asic1\": {{\"WRED_PROFILE\": {low}}}, \"localhost\": {{}}}}");
    let o = run(&asics);
    assert!(
        out(&o).contains("asic1: the upper threshold"),
        "{}",
        said(&o)
    );
    let none = std::env::temp_dir().to_string_lossy().into_owned();
    for args in [["-", "--yang", "/nonexistent"], ["-", "--yang", &none]] {
        assert_eq!(doctor(&args, &whole).status.code(), Some(2));
    }
    assert_eq!(run(&text("tc.json")).status.code(), Some(2));
}

/// Secrets reach no output of files with a byte that is changed, removed or an end of line.
#[test]
fn secrets_reach_no_output_of_damaged_files() {
    for name in clean() {
        let whole = text(&name).into_bytes();
        // Steps that share no factor with the length of a line of these files.
        for at in (0..whole.len()).step_by((whole.len() / 29) | 1) {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            let mut removed = whole.clone();
            removed.remove(at);
            let mut broken = whole.clone();
            broken.insert(at, b'\n');
            for bytes in [changed, removed, broken] {
                let text = String::from_utf8(bytes).expect("ASCII");
                let o = doctor(&["-"], &text);
                let code = o.status.code();
                assert!(
                    matches!(code, Some(0..=2)),
                    "{name}, {at}: {code:?} {}",
                    said(&o)
                );
                assert!(
                    !said(&o).contains(&SECRET[1..]),
                    "{name}, {at}: {}",
                    said(&o)
                );
            }
        }
    }
}

/// Secrets reach no output in any form, also where the file is broken.
#[test]
fn secrets_reach_no_output() {
    for name in clean() {
        let whole = text(&name);
        assert!(whole.contains(SECRET) || name == "tc.json", "{name}");
        let cuts = (0..8).map(|i| whole.len() * i / 8);
        let texts = cuts.map(|at| {
            let at = (at..whole.len()).find(|at| whole.is_char_boundary(*at));
            whole[..at.unwrap_or(0)].to_owned()
        });
        for text in texts.chain([
            whole.clone(),
            whole.replace('"', ""),
            whole.replace(' ', "\n"),
        ]) {
            for args in [
                &["-"][..],
                &["-", "--format", "json"],
                &["-", "--format", "sarif"],
            ] {
                let o = doctor(args, &text);
                let code = o.status.code();
                assert!(matches!(code, Some(0..=2)), "{name}: {code:?} {}", said(&o));
                assert!(!said(&o).contains(SECRET), "{name}: {}", said(&o));
            }
        }
    }
}
