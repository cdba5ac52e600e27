// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run directory keeps what has finished, and refuses what it must not touch.

use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::common::{FACTORS, Scratch, finished, plan};
use cemark_report::summary::Cost;
use cemark_report::{Comparisons, Console, Fault, Finished, Provenance, RunDir, RunSummary};
use cemark_scenario::Plan;
use cemark_sim::config::Pfc;
use cemark_sim::outcome::{
    BufferSample, BufferTrace, FlowRecord, LongRecord, PauseReport, QueuePause,
};
use cemark_wire::Picos;
use parquet::file::reader::{FileReader, SerializedFileReader};

fn who(build: &str) -> Provenance {
    Provenance {
        version: "0.1.0".into(),
        build: build.into(),
        command: vec!["cemark".into(), "run".into()],
    }
}

#[test]
fn a_stored_point_comes_back_whole() {
    let (scratch, plan) = (Scratch::new(), plan(&["0.5"], &[1]));
    let done = finished(&plan, FACTORS);
    let dir = RunDir::open(&scratch.0.join("run"), &plan, &who("b1"), false, &()).unwrap();
    assert!(dir.load(&plan.points[1], &()).is_none());
    dir.store(&plan.points[1], &done[1]).unwrap();
    drop(dir);
    let again = RunDir::open(&scratch.0.join("run"), &plan, &who("b1"), false, &()).unwrap();
    let back = again.load(&plan.points[1], &()).expect("stored");
    assert_eq!(back.summary, done[1].summary);
    assert_eq!(back.outcome.flows, done[1].outcome.flows);
    assert_eq!(back.outcome.ports, done[1].outcome.ports);
    assert_eq!(back.outcome.traces, done[1].outcome.traces);
    assert_eq!(back.outcome.totals, done[1].outcome.totals);
}

#[test]
fn a_point_of_another_build_or_a_torn_file_is_run_again() {
    let (scratch, plan) = (Scratch::new(), plan(&["0.5"], &[1]));
    let done = finished(&plan, FACTORS);
    let dir = RunDir::open(&scratch.0, &plan, &who("b1"), false, &()).unwrap();
    dir.store(&plan.points[0], &done[0]).unwrap();
    drop(dir);
    assert!(
        RunDir::open(&scratch.0, &plan, &who("b2"), false, &())
            .unwrap()
            .load(&plan.points[0], &())
            .is_none()
    );
}

/// Records every note.
#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Console for Heard {
    fn say(&self, note: &str) {
        self.0.lock().unwrap().push(note.to_owned());
    }
}

impl Heard {
    /// Messages since the last call.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// A run directory with one small point in it, and the point's file.
fn kept(scratch: &Scratch, plan: &Plan) -> (RunDir, Finished, PathBuf) {
    let mut done = finished(plan, FACTORS).remove(0);
    done.outcome.flows.truncate(3);
    done.outcome.traces[0].samples.truncate(3);
    let done = Finished::new(&plan.points[0], done.outcome, 0.25);
    let dir = RunDir::open(&scratch.0.join("run"), plan, &who("b1"), false, &()).unwrap();
    dir.store(&plan.points[0], &done).unwrap();
    let points = scratch.0.join("run/points");
    let file = fs::read_dir(points).unwrap().next().unwrap().unwrap();
    (dir, done, file.path())
}

/// A flipped bit anywhere and a cut anywhere cost this point, and no other number is ever used.
#[test]
fn every_damaged_byte_of_a_point_is_noticed_and_said() {
    let (scratch, plan) = (Scratch::new(), plan(&["0.5"], &[1]));
    let (dir, done, file) = kept(&scratch, &plan);
    let whole = fs::read(&file).unwrap();
    let heard = Heard::default();
    let load = || dir.load(&plan.points[0], &heard);
    let back = load().expect("stored");
    assert_eq!(back.summary, done.summary);
    assert_eq!(back.outcome.flows, done.outcome.flows);
    assert_eq!(heard.take(), [""; 0], "an undamaged point");
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    let noticed = |what: String| {
        assert!(load().is_none(), "{what} is used");
        let said = heard.take();
        assert!(
            said.len() == 1 && said[0].contains(&name) && said[0].contains("is damaged"),
            "{what}: {said:?}"
        );
    };
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&file, &bytes).unwrap();
        noticed(format!("bit {} of byte {at}", at % 8));
    }
    for length in (0..whole.len()).step_by(7).chain([whole.len() - 1]) {
        fs::write(&file, &whole[..length]).unwrap();
        noticed(format!("a cut after {length} bytes"));
    }
    // Run again, it is the same to the last byte.
    dir.store(&plan.points[0], &done).unwrap();
    assert_eq!(fs::read(&file).unwrap(), whole);
    assert_eq!(load().expect("stored").summary, done.summary);
}

/// Every damaged byte of the manifest costs the manifest: the points stay, and the manifest is
/// written again.
#[test]
fn a_damaged_manifest_costs_no_point() {
    let (scratch, plan) = (Scratch::new(), plan(&["0.5"], &[1]));
    let (dir, done, _) = kept(&scratch, &plan);
    drop(dir);
    let (run, manifest) = (scratch.0.join("run"), scratch.0.join("run/manifest.json"));
    let whole = fs::read(&manifest).unwrap();
    let heard = Heard::default();
    let goes_on = |bytes: Option<&[u8]>, what: String| {
        match bytes {
            Some(bytes) => fs::write(&manifest, bytes).unwrap(),
            None => fs::remove_file(&manifest).unwrap(),
        }
        let dir = RunDir::open(&run, &plan, &who("b1"), false, &heard)
            .unwrap_or_else(|e| panic!("{what}: {e}"));
        let back = dir.load(&plan.points[0], &heard).expect(&what);
        assert_eq!(back.summary, done.summary, "{what}");
        assert_eq!(fs::read(&manifest).unwrap(), whole, "{what}");
        heard.take()
    };
    let mut silent = 0;
    for at in (0..whole.len()).step_by(3) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        let said = goes_on(Some(&bytes), format!("byte {at}"));
        silent += usize::from(said.is_empty());
        assert!(
            said.iter()
                .all(|s| s.contains("manifest.json is lost or damaged")),
            "{said:?}"
        );
    }
    // Damage to the words around the checksum leaves a manifest without one, as early builds wrote
    // them.
    assert!(
        silent <= "\"checksum\": \"".len(),
        "{silent} of {}",
        whole.len()
    );
    for length in [0, 1, whole.len() / 2] {
        let said = goes_on(Some(&whole[..length]), format!("cut after {length}"));
        assert_eq!(said.len(), 1, "{said:?}");
    }
    assert_eq!(goes_on(None, "none".to_owned()).len(), 1);
}

/// The points say whose they are when the manifest cannot.
#[test]
fn points_of_another_scenario_are_refused_without_their_manifest() {
    let (scratch, plan) = (Scratch::new(), plan(&["0.5"], &[1]));
    let (dir, _, file) = kept(&scratch, &plan);
    drop(dir);
    let run = scratch.0.join("run");
    let mut second = plan.clone();
    second.digest ^= 1;
    for damage in [true, false] {
        match damage {
            true => fs::write(run.join("manifest.json"), "{").unwrap(),
            false => fs::remove_file(run.join("manifest.json")).unwrap(),
        }
        let refused = RunDir::open(&run, &second, &who("b1"), false, &()).unwrap_err();
        assert_eq!(refused.fault, Fault::User);
        assert!(
            refused.to_string().contains("feedbeef01020304"),
            "{refused}"
        );
        assert!(refused.help.contains("--fresh"), "{}", refused.help);
        assert!(file.exists());
    }
}

/// A directory with files of somebody else's is left as it was.
#[test]
fn a_directory_that_is_no_run_is_left_alone() {
    let plan = plan(&["0.5"], &[1]);
    for (name, text) in [
        ("manifest.json", "{\"name\": \"a web page\"}"),
        ("manifest.json", ""),
        ("report.html", "mine"),
        ("flows.parquet", "mine"),
        ("points/mine.txt", "mine"),
    ] {
        for fresh in [false, true] {
            let scratch = Scratch::new();
            let file = scratch.0.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, text).unwrap();
            let refused = RunDir::open(&scratch.0, &plan, &who("b1"), fresh, &()).unwrap_err();
            assert_eq!(refused.fault, Fault::User, "{name}");
            assert!(refused.help.contains("--out"), "{name}: {}", refused.help);
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
            assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 1, "{name}");
        }
    }
}

#[test]
fn fresh_removes_what_cemark_wrote_and_nothing_else() {
    let (scratch, plan) = (Scratch::new(), plan(&["0.5"], &[1]));
    let (dir, _, point) = kept(&scratch, &plan);
    drop(dir);
    let run = scratch.0.join("run");
    let mine = [
        "notes.txt",
        "points/notes.txt",
        "points/deep/x.parquet",
        "points/flows.parquet",
    ];
    for name in mine {
        let file = run.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, name).unwrap();
    }
    let ours = [
        "points/.cemark-tmp-1-0-x",
        "flows.parquet",
        "summary.json",
        "report.html",
    ];
    for name in ours {
        fs::write(run.join(name), "old").unwrap();
    }
    let dir = RunDir::open(&run, &plan, &who("b1"), true, &()).unwrap();
    assert!(!point.exists() && dir.load(&plan.points[0], &()).is_none());
    for name in ours {
        assert!(!run.join(name).exists(), "{name}");
    }
    for name in mine {
        assert_eq!(fs::read_to_string(run.join(name)).unwrap(), name);
    }
}

/// While one holds the directory, the other waits; `--fresh` is refused; a half-written file of the
/// living one stays.
#[test]
fn a_directory_has_one_writer() {
    let (scratch, plan) = (Scratch::new(), plan(&["0.5"], &[1]));
    let run = scratch.0.join("run");
    fs::create_dir_all(&run).unwrap();
    // As another process would hold it, whatever its number.
    let lock = fs::File::create(run.join(".cemark-lock")).unwrap();
    lock.lock().unwrap();
    fs::write(run.join(".cemark-lock"), "4294967295\n").unwrap();
    fs::create_dir_all(run.join("points")).unwrap();
    let half = run.join("points/.cemark-tmp-4294967295-0-x");
    fs::write(&half, "half").unwrap();
    let refused = RunDir::open(&run, &plan, &who("b1"), true, &()).unwrap_err();
    assert_eq!(refused.fault, Fault::User);
    let text = refused.to_string();
    assert!(
        text.contains("process 4294967295") && text.contains("run"),
        "{text}"
    );
    let heard = Heard::default();
    std::thread::scope(|threads| {
        let waits = threads.spawn(|| RunDir::open(&run, &plan, &who("b1"), false, &heard));
        std::thread::sleep(std::time::Duration::from_millis(350));
        assert!(!waits.is_finished());
        assert!(half.exists());
        drop(lock);
        waits.join().unwrap().unwrap();
    });
    assert!(!half.exists(), "its writer is gone");
    let said = heard.take();
    assert!(
        said.len() == 1 && said[0].contains("waiting until it ends"),
        "{said:?}"
    );
}

/// The waiting can be ended, and a process does not wait for itself.
#[test]
fn waiting_ends_when_it_should() {
    struct Ended;
    impl Console for Ended {
        fn goes_on(&self) -> bool {
            false
        }
    }
    let (scratch, plan) = (Scratch::new(), plan(&["0.5"], &[1]));
    let first = RunDir::open(&scratch.0, &plan, &who("b1"), false, &()).unwrap();
    let refused = RunDir::open(&scratch.0, &plan, &who("b1"), false, &()).unwrap_err();
    assert_eq!(refused.fault, Fault::User);
    drop(first);
    let lock = fs::File::open(scratch.0.join(".cemark-lock")).unwrap();
    lock.lock().unwrap();
    fs::write(scratch.0.join(".cemark-lock"), "").unwrap();
    assert!(RunDir::open(&scratch.0, &plan, &who("b1"), false, &Ended).is_err());
}

/// Two variants of a scenario may come to the same point; its two threads write the same file.
#[test]
fn points_that_are_alike_may_finish_at_once() {
    let (scratch, plan) = (Scratch::new(), plan(&["0.5"], &[1]));
    let done = finished(&plan, FACTORS);
    let dir = RunDir::open(&scratch.0.join("run"), &plan, &who("b1"), false, &()).unwrap();
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                for _ in 0..25 {
                    dir.store(&plan.points[0], &done[0]).unwrap();
                }
            });
        }
    });
    let back = dir.load(&plan.points[0], &()).expect("stored");
    assert_eq!(back.outcome.flows, done[0].outcome.flows);
}

#[test]
fn queries_buffers_and_pauses_survive_the_disk() {
    let scratch = Scratch::new();
    let mut plan = plan(&["0.5"], &[1]);
    for p in &mut plan.points {
        p.config.switch.pfc = Some(Pfc::default());
    }
    let mut done = finished(&plan, FACTORS);
    let outcome = &mut done[0].outcome;
    for flow in &mut outcome.flows[10..30] {
        flow.query = NonZeroU32::new(1 + (flow.id % 2) as u32);
    }
    let sample = |i: u64| BufferSample {
        at: Picos::from_micros(10 * i),
        bytes: 1000 * i as u32,
    };
    outcome.buffers = vec![BufferTrace {
        name: "switch0".to_owned(),
        capacity: 4_000_000,
        samples: (0..3).map(sample).collect(),
    }];
    let pause = |name: &str, queues: Vec<QueuePause>| PauseReport {
        name: name.to_owned(),
        frames: 9,
        share: 0.25,
        queues,
    };
    let of_class = |class, frames, share| QueuePause {
        class,
        frames,
        share,
    };
    outcome.pauses = vec![
        pause("host3->switch0", vec![of_class(0, 9, 0.25)]),
        pause(
            "switch0->host7",
            vec![of_class(1, 4, 0.125), of_class(2, 5, 0.2)],
        ),
    ];
    done[0] = Finished::new(&plan.points[0], done[0].outcome.clone(), 0.25);
    assert_eq!(done[0].summary.queries, 2);
    let first = |of: fn(&FlowRecord) -> u64| done[0].outcome.flows[10..30].iter().map(of);
    let start = first(|f| f.start.0).step_by(2).min().unwrap();
    let end = first(|f| (f.start + f.fct.unwrap()).0).step_by(2).max();
    let time = done[0].summary.query_us.p50.unwrap();
    let other = done[0].summary.query_us.mean.unwrap() * 2.0 - time;
    let expected = (end.unwrap() - start) as f64 / 1e6;
    assert!(
        (time - expected).abs() < 1e-6 || (other - expected).abs() < 1e-6,
        "{expected}: {time} or {other}"
    );
    assert_eq!(done[0].summary.metrics["pause.share"], 25.0);
    assert_eq!(done[1].summary.metrics["pause.share"], 0.0);

    let dir = RunDir::open(&scratch.0, &plan, &who("b"), false, &()).unwrap();
    dir.store(&plan.points[0], &done[0]).unwrap();
    let back = dir.load(&plan.points[0], &()).unwrap();
    assert_eq!(back.outcome.flows, done[0].outcome.flows);
    assert_eq!(back.outcome.buffers, done[0].outcome.buffers);
    assert_eq!(back.outcome.pauses, done[0].outcome.pauses);
    assert_eq!(back.summary, done[0].summary);

    let comparisons = Comparisons::new(&plan, &done);
    let summary = RunSummary::new(&plan, &done, &comparisons, "0.1.0", Cost::default());
    dir.finish(&plan, &done, &summary, "<!doctype html>", &who("b"))
        .unwrap();
    let rows = |name: &str| rows(&scratch.0.join(name));
    let buffers = rows("buffers.parquet");
    assert_eq!(buffers.len(), 3, "{buffers:#?}");
    let last = "switch: \"switch0\", time_us: 20.0, used_bytes: 2000, buffer_bytes: 4000000";
    assert!(buffers[2].contains(last), "{}", buffers[2]);
    let pauses = rows("pauses.parquet");
    assert_eq!(pauses.len(), 5, "{pauses:#?}");
    for (row, text) in [
        (
            0,
            "port: \"host3->switch0\", class: null, pauses: 9, pause_share: 0.25",
        ),
        (
            1,
            "port: \"host3->switch0\", class: 0, pauses: 9, pause_share: 0.25",
        ),
        (
            4,
            "port: \"switch0->host7\", class: 2, pauses: 5, pause_share: 0.2",
        ),
    ] {
        assert!(pauses[row].contains(text), "{}", pauses[row]);
    }
    let links = rows("links.parquet");
    assert!(
        links[0].contains("pauses: 0, pause_share: 0E0"),
        "{}",
        links[0]
    );
    assert!(
        links[1].contains("pauses: 9, pause_share: 0.25"),
        "{}",
        links[1]
    );
    let flows = rows("flows.parquet");
    assert!(flows[9].contains("query: null") && flows[10].contains("query: 1, class: 0"));

    // The table of ports has the NIC too, and every point.
    let tables = cemark_report::table::files::exact(&plan, &done, &comparisons);
    let ports = tables.iter().find(|t| t.name == "ports").unwrap();
    assert_eq!(ports.rows.len(), 3 * 2 + 1);
    let cell = |row: &[String], head: &str| {
        let place = ports.head.iter().position(|h| h == head);
        row[place.unwrap_or_else(|| panic!("no column {head}"))].clone()
    };
    let nic = &ports.rows[2];
    assert_eq!(cell(nic, "port"), "host3->switch0");
    assert_eq!(cell(nic, "utilisation [share]"), "");
    assert_eq!(cell(nic, "paused [share]"), "0.25");
    assert_eq!(cell(&ports.rows[1], "pauses"), "9");
    assert_eq!(cell(&ports.rows[0], "paused [share]"), "0");
}

/// The rows of a Parquet file as texts.
fn rows(path: &Path) -> Vec<String> {
    let file = fs::File::open(path).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(|row| row.unwrap().to_string()).collect()
}

#[test]
fn an_unfinished_flow_survives_the_disk() {
    let (scratch, plan) = (Scratch::new(), plan(&["0.5"], &[1]));
    let mut done = finished(&plan, FACTORS).remove(0);
    done.outcome.flows[3].fct = None;
    let dir = RunDir::open(&scratch.0, &plan, &who("b"), false, &()).unwrap();
    dir.store(&plan.points[0], &done).unwrap();
    let back = dir.load(&plan.points[0], &()).unwrap();
    assert_eq!(back.outcome.flows, done.outcome.flows);
    assert_eq!(back.summary.unfinished, 1);
    assert_eq!(back.summary.fct_us.all.count, 899);
}

/// A reason that a switch learns tomorrow needs no second list here.
#[test]
fn every_reason_survives_the_disk() {
    let (scratch, plan) = (Scratch::new(), plan(&["0.5"], &[1]));
    let mut done = finished(&plan, FACTORS).remove(0);
    let reasons: Vec<&'static str> = cemark_sim::outcome::reasons().collect();
    assert!(reasons.contains(&"instant") && reasons.contains(&"tail"));
    let totals = &mut done.outcome.totals;
    totals.marks = reasons.iter().copied().zip(1..).collect();
    totals.drops = reasons.iter().copied().zip(100..).collect();
    let dir = RunDir::open(&scratch.0, &plan, &who("b"), false, &()).unwrap();
    dir.store(&plan.points[0], &done).unwrap();
    let back = dir
        .load(&plan.points[0], &())
        .expect("a point of this build");
    assert_eq!(back.outcome.totals, done.outcome.totals);
    done.outcome.totals.drops.insert("cosmic rays", 1);
    dir.store(&plan.points[0], &done).unwrap();
    assert!(dir.load(&plan.points[0], &()).is_none(), "run again");
}

#[test]
fn another_scenarios_directory_is_refused_until_fresh() {
    let (scratch, first) = (Scratch::new(), plan(&["0.5"], &[1]));
    let mut second = first.clone();
    second.digest ^= 1;
    let dir = RunDir::open(&scratch.0, &first, &who("b"), false, &()).unwrap();
    dir.store(&first.points[0], &finished(&first, FACTORS)[0])
        .unwrap();
    drop(dir);
    let refused = RunDir::open(&scratch.0, &second, &who("b"), false, &()).unwrap_err();
    assert_eq!(refused.fault, Fault::User);
    assert!(refused.help.contains("--fresh"), "{}", refused.help);
    let fresh = RunDir::open(&scratch.0, &second, &who("b"), true, &()).unwrap();
    assert!(fresh.load(&first.points[0], &()).is_none());
}

#[test]
fn a_file_in_the_way_is_the_users_fault() {
    let (scratch, plan) = (Scratch::new(), plan(&["0.5"], &[1]));
    let file = scratch.0.join("out");
    fs::write(&file, "mine").unwrap();
    for path in [file.clone(), file.join("below")] {
        let refused = RunDir::open(&path, &plan, &who("b"), false, &()).unwrap_err();
        assert_eq!(refused.fault, Fault::User, "{refused}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn a_full_disk_is_the_machines_fault() {
    // /dev/full accepts opens and refuses every byte.
    if !std::path::Path::new("/dev/full").exists() {
        return;
    }
    use std::io::Write as _;
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap()
        .write_all(b"x")
        .unwrap_err();
    let error = cemark_report::Error::io("write", std::path::Path::new("runs/x"), full);
    assert_eq!(error.fault, Fault::Machine);
    assert!(error.to_string().contains("disk is full"), "{error}");
}

/// A row for each interval of all flows and of each endless one; a row for each switch port; a row
/// for each point.
#[test]
fn goodput_links_and_points_are_tables() {
    let scratch = Scratch::new();
    let mut plan = plan(&["0.5"], &[1]);
    for p in &mut plan.points {
        p.config.measure.from = Picos::from_micros(1_000);
        p.config.measure.goodput_interval = Picos::from_micros(500);
    }
    let mut done = finished(&plan, FACTORS);
    for d in &mut done {
        d.outcome.goodput = vec![600_000, 625_000];
        d.outcome.long_flows = vec![LongRecord {
            id: 4,
            src: 1,
            dst: 7,
            class: 0,
            delivered: 1_000_000,
            arrived: 1_000_000,
            intervals: vec![500_000, 500_000],
            timeouts: 0,
            workload: 0,
        }];
        d.outcome.ports[0].queue.count = 0;
    }
    let comparisons = Comparisons::new(&plan, &done);
    let summary = RunSummary::new(&plan, &done, &comparisons, "0.1.0", Cost::default());
    let dir = RunDir::open(&scratch.0, &plan, &who("b"), false, &()).unwrap();
    dir.finish(&plan, &done, &summary, "<!doctype html>", &who("b"))
        .unwrap();
    let rows = |name: &str| rows(&scratch.0.join(name));
    let goodput = rows("goodput.parquet");
    assert_eq!(goodput.len(), 3 * (2 + 2), "{goodput:#?}");
    assert!(
        goodput[1].contains("flow: null")
            && goodput[1].contains("start_us: 1500.0")
            && goodput[1].contains("bytes: 625000")
            && goodput[1].contains("goodput_bps: 10000000000.0"),
        "{}",
        goodput[1]
    );
    assert!(
        goodput[2].contains("flow: 4, src: 1, dst: 7, start_us: 1000.0, bytes: 500000"),
        "{}",
        goodput[2]
    );
    let links = rows("links.parquet");
    assert_eq!(links.len(), 3 * 2, "{links:#?}");
    assert!(
        links[0].contains("utilisation: 0.25") && links[0].contains("queue_mean_bytes: null"),
        "{}",
        links[0]
    );
    assert!(
        links[1].contains("port: \"switch0->host7\", rate_bps: 10000000000"),
        "{}",
        links[1]
    );
    // One row for each point, one column for each metric that has a column.
    let points = rows("points.parquet");
    assert_eq!(points.len(), 3, "{points:#?}");
    for (row, done) in points.iter().zip(&done) {
        let mean = done.summary.fct_us.short.mean.unwrap();
        let shown = format!("short.mean: {mean:?}, ");
        assert!(row.contains(&shown), "{shown} in {row}");
        assert!(
            row.contains("probe.mean: null") && row.contains("marks: 9313.0"),
            "{row}"
        );
        for metric in cemark_report::metrics::all() {
            let column = format!(" {}: ", metric.key);
            assert_eq!(row.contains(&column), metric.column.is_some(), "{column}");
        }
    }
    // One row for each metric of each scheme, with unit, number of values and interval.
    let metrics = rows("metrics.parquet");
    assert_eq!(metrics.len(), summary.measures.len());
    for (row, measure) in metrics.iter().zip(&summary.measures) {
        let shown = format!(
            "scheme: {:?}, metric: {:?}, unit: {:?}, value: ",
            measure.scheme, measure.metric, measure.unit
        );
        assert!(row.contains(&shown), "{shown} in {row}");
        let shown = format!("count: {}, counted: {:?}, ", measure.count, measure.counted);
        assert!(row.contains(&shown), "{shown} in {row}");
    }
    let mean = done[0].summary.fct_us.short.mean.unwrap();
    let short = metrics.iter().find(|row| row.contains("\"short.mean\""));
    let shown = format!("value: {mean:?}, low: ");
    assert!(short.unwrap().contains(&shown), "{short:?}");
    // The intervals are kept with the point.
    dir.store(&plan.points[0], &done[0]).unwrap();
    let back = dir.load(&plan.points[0], &()).unwrap().outcome;
    assert_eq!(back.goodput, done[0].outcome.goodput);
    assert_eq!(back.long_flows, done[0].outcome.long_flows);
}

#[test]
fn a_finished_run_leaves_its_documents() {
    let (scratch, plan) = (Scratch::new(), plan(&["0.5", "0.9"], &[1, 2, 3]));
    let done = finished(&plan, FACTORS);
    let comparisons = Comparisons::new(&plan, &done);
    let summary = RunSummary::new(&plan, &done, &comparisons, "0.1.0", Cost::default());
    let dir = RunDir::open(&scratch.0, &plan, &who("b"), false, &()).unwrap();
    dir.finish(&plan, &done, &summary, "<!doctype html>", &who("b"))
        .unwrap();
    let read: RunSummary =
        serde_json::from_slice(&fs::read(scratch.0.join("summary.json")).unwrap()).unwrap();
    assert_eq!(read, summary);
    let manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(scratch.0.join("manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["digest"], summary.digest);
    assert_eq!(manifest["scenario_digest"], "feedbeef01020304");
    assert_eq!(manifest["seeds"], serde_json::json!([1, 2, 3]));
    assert!(!scratch.0.join("goodput.parquet").exists(), "not asked for");
    for name in [
        "points.parquet",
        "flows.parquet",
        "queues.parquet",
        "links.parquet",
    ] {
        let bytes = fs::read(scratch.0.join(name)).unwrap();
        assert_eq!(
            (&bytes[..4], &bytes[bytes.len() - 4..]),
            (&b"PAR1"[..], &b"PAR1"[..]),
            "{name}"
        );
    }
    assert_eq!(
        fs::read_dir(&scratch.0)
            .unwrap()
            .flatten()
            .filter(|e| e.file_name().to_string_lossy().starts_with(".cemark-tmp"))
            .count(),
        0
    );
}
