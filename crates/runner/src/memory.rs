// SPDX-License-Identifier: MIT OR Apache-2.0
//! Refuses a run that needs more memory than there is. This is the only place that reads the memory
//! of the machine; a result never depends on it.
//!
//! Linux reports the free memory and the limits of the control groups (cgroups) of this process. On
//! other systems nothing is refused.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use cemark_report::units;
use cemark_scenario::Plan;

use crate::{Cores, Failure};

/// Memory that this process can still get, and what limits it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Room {
    bytes: f64,
    says: String,
}

/// Points that run at the same time: one per core, or fewer if the user says so.
pub fn jobs(asked: Option<NonZeroUsize>) -> usize {
    Cores::of_jobs(asked).split(usize::MAX).points
}

/// Refuses a run that needs more memory than there is, except with `--anyway`.
///
/// # Errors
/// [`Failure::User`] with what needs less.
pub fn refuse(plan: &Plan, asked: Option<NonZeroUsize>, anyway: bool) -> Result<(), Failure> {
    match room(Path::new("/")) {
        Some(room) if !anyway => within(&room, plan, jobs(asked), &|_| 1),
        _ => Ok(()),
    }
}

/// Refuses a run whose results need more memory than there is, except with `anyway`. Other
/// processes simulate the points; this process holds only their results.
///
/// # Errors
/// As [`refuse`].
pub(crate) fn refuse_to_keep(plan: &Plan, anyway: bool) -> Result<(), Failure> {
    let Some(room) = room(Path::new("/")).filter(|_| !anyway) else {
        return Ok(());
    };
    let needed = plan.kept_bytes();
    if needed <= room.bytes {
        return Ok(());
    }
    Err(Failure::User(miette::miette!(
        help = "fewer seeds or values, or several sweeps: results stay in memory. Or --anyway \
                (anyway=True), if the estimate is wrong",
        "the results of {} need about {} of memory ({} points), and there are {} ({})",
        plan.name,
        units::bytes(needed),
        plan.points.len(),
        units::bytes(room.bytes),
        room.says
    )))
}

/// Refuses points of a plan that need more memory than there is, `jobs` at the same time, each on
/// its number of threads.
pub(crate) fn refuse_threads(
    plan: &Plan,
    points: &[usize],
    jobs: usize,
    threads: &dyn Fn(usize) -> usize,
) -> Result<(), Failure> {
    let Some(room) = room(Path::new("/")) else {
        return Ok(());
    };
    if points.len() == plan.distinct().len() {
        return within(&room, plan, jobs, threads);
    }
    let part = plan.only(points);
    within(&room, &part, jobs, &|i| threads(points[i]))
}

/// The refusal itself, for a given amount of memory.
fn within(
    room: &Room,
    plan: &Plan,
    jobs: usize,
    threads: &dyn Fn(usize) -> usize,
) -> Result<(), Failure> {
    let needed = plan.peak_bytes_on(jobs, threads);
    if needed <= room.bytes {
        return Ok(());
    }
    let mut ways = Vec::new();
    let on_one = plan.peak_bytes(jobs);
    if on_one <= room.bytes {
        ways.push(format!(
            "one core for each point (--threads 1 needs {})",
            units::bytes(on_one)
        ));
    }
    let alone = plan.peak_bytes_on(1, threads);
    if alone <= room.bytes {
        ways.push(format!(
            "fewer points at once (--jobs 1 needs {})",
            units::bytes(alone)
        ));
    }
    if plan
        .points
        .iter()
        .any(|p| p.config.measure.queue_interval.0 > 0)
    {
        ways.push("no samples of queues (--set measure.queue-interval=0)".to_owned());
    }
    let kept: f64 = plan.points.iter().map(|p| p.kept_bytes).sum();
    if kept > 0.1 * needed {
        ways.push("fewer seeds or values, because results stay in memory".to_owned());
    }
    ways.push("a smaller topology, fewer flows".to_owned());
    let hosts = plan.points.iter().map(|p| p.config.topology.hosts()).max();
    let help = format!(
        "{}; or --anyway, if the estimate is wrong",
        ways.join(", or ")
    );
    Err(Failure::User(miette::miette!(
        help = help,
        "{} needs about {} of memory ({} hosts, {jobs} of {} points at a time), and there are \
         {} ({})",
        plan.name,
        units::bytes(needed),
        hosts.unwrap_or(0),
        plan.distinct().len(),
        units::bytes(room.bytes),
        room.says
    )))
}

/// The smallest of the free memory and what each control group has left. `root` is `/` except in
/// tests.
pub(crate) fn room(root: &Path) -> Option<Room> {
    let read = |path: PathBuf| fs::read_to_string(root.join(path)).ok();
    let free = read("proc/meminfo".into()).and_then(|text| free(&text));
    let free = free.map(|bytes| Room {
        bytes,
        says: "free on this machine".to_owned(),
    });
    let groups = read("proc/self/cgroup".into()).unwrap_or_default();
    let groups = folders(&groups).into_iter().filter_map(|(folder, names)| {
        let file = |name: &str| read(folder.join(name));
        let stat = file("memory.stat").unwrap_or_default();
        let bytes = left(&file(names.limit)?, &file(names.used)?, &stat)?;
        Some(Room {
            bytes,
            says: format!(
                "left by the limit of the control group /{}",
                folder.display()
            ),
        })
    });
    let all = free.into_iter().chain(groups);
    all.min_by(|a, b| a.bytes.total_cmp(&b.bytes))
}

/// `MemAvailable` of `/proc/meminfo`, in bytes.
fn free(meminfo: &str) -> Option<f64> {
    let line = meminfo
        .lines()
        .find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024.0)
}

/// File names of the limit and the use of a control group.
struct Names {
    limit: &'static str,
    used: &'static str,
}

/// The control groups of this process and those above them, by the lines of `/proc/self/cgroup`:
/// version 2 (`0::/a/b`) and the memory controller of version 1 (`5:memory:/a`). The root is read
/// as well, because a container may show its own group as the root.
fn folders(text: &str) -> Vec<(PathBuf, Names)> {
    let mut all = Vec::new();
    for line in text.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        let (mount, names) = match controllers {
            "" => ("sys/fs/cgroup", ["memory.max", "memory.current"]),
            c if c.split(',').any(|c| c == "memory") => (
                "sys/fs/cgroup/memory",
                ["memory.limit_in_bytes", "memory.usage_in_bytes"],
            ),
            _ => continue,
        };
        let own = Path::new(path.trim_start_matches('/'));
        let inside = own
            .components()
            .all(|c| matches!(c, std::path::Component::Normal(_)));
        for group in own
            .ancestors()
            .filter(|g| inside || g.as_os_str().is_empty())
        {
            let names = Names {
                limit: names[0],
                used: names[1],
            };
            all.push((Path::new(mount).join(group), names));
        }
    }
    all
}

/// Memory that a control group has left, in bytes: its limit minus its use, not counting file cache
/// that can be dropped. `None` without a limit.
fn left(limit: &str, used: &str, stat: &str) -> Option<f64> {
    // No limit is "max" in version 2 and the largest number of pages in version 1.
    let limit: f64 = limit.trim().parse().ok().filter(|l| *l < 1e18)?;
    let used: f64 = used.trim().parse().ok()?;
    let cache = |key: &str| {
        stat.lines()
            .find_map(|l| l.strip_prefix(key)?.trim().parse::<f64>().ok())
    };
    let cache = cache("total_inactive_file ").or_else(|| cache("inactive_file "));
    Some((limit - (used - cache.unwrap_or(0.0)).max(0.0)).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cemark_scenario::{Overrides, load};

    #[test]
    fn free_memory_is_what_can_be_had_without_swapping() {
        let text = "MemTotal:  24000000 kB\nMemFree:   100 kB\nMemAvailable:   2000 kB\n";
        assert_eq!(free(text), Some(2_048_000.0));
        assert_eq!(free("MemTotal: 5 kB\n"), None);
        assert_eq!(free("MemAvailable: much kB\n"), None);
    }

    #[test]
    fn a_control_group_leaves_its_limit_less_what_it_uses() {
        assert_eq!(left("max\n", "5\n", ""), None);
        assert_eq!(left("1000\n", "400\n", ""), Some(600.0));
        // Cache that can be dropped does not count as used.
        let stat = "anon 300\ninactive_file 100\n";
        assert_eq!(left("1000\n", "400\n", stat), Some(700.0));
        assert_eq!(left("1000\n", "4000\n", ""), Some(0.0));
        // Version 1: no limit is the largest number of pages, and the sum over the children counts.
        assert_eq!(left("9223372036854771712\n", "5\n", ""), None);
        let stat = "inactive_file 1\ntotal_inactive_file 100\n";
        assert_eq!(left("1000\n", "400\n", stat), Some(700.0));
    }

    #[test]
    fn control_groups_and_their_parents_are_read() {
        let paths = |text: &str| -> Vec<String> {
            let found = folders(text).into_iter();
            found
                .map(|(f, n)| format!("{}/{}", f.display(), n.limit))
                .collect()
        };
        assert_eq!(
            paths("0::/a/b\n"),
            [
                "sys/fs/cgroup/a/b/memory.max",
                "sys/fs/cgroup/a/memory.max",
                "sys/fs/cgroup//memory.max"
            ]
        );
        assert_eq!(
            paths("7:cpu,memory:/c\n6:pids:/c\n"),
            [
                "sys/fs/cgroup/memory/c/memory.limit_in_bytes",
                "sys/fs/cgroup/memory//memory.limit_in_bytes"
            ]
        );
        // A group outside the view of the container.
        assert_eq!(paths("0::/../x\n"), ["sys/fs/cgroup//memory.max"]);
        assert_eq!(paths("nonsense\n"), [""; 0]);
    }

    /// A machine made of files: the smallest of their values counts.
    #[test]
    fn the_least_counts() {
        let root = std::env::temp_dir().join(format!("cemark-memory-{}", std::process::id()));
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("it has a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        };
        assert_eq!(room(&root), None, "no file says anything");
        write("proc/meminfo", "MemAvailable: 1000 kB\n");
        let says = |room: Option<Room>| room.map(|r| (r.bytes, r.says));
        let machine = says(room(&root)).expect("there is a limit");
        assert_eq!(machine, (1_024_000.0, "free on this machine".to_owned()));
        write("proc/self/cgroup", "0::/a\n");
        write("sys/fs/cgroup/a/memory.max", "max\n");
        write("sys/fs/cgroup/a/memory.current", "10\n");
        assert_eq!(says(room(&root)), Some(machine), "no limit");
        write("sys/fs/cgroup/memory.max", "5000\n");
        write("sys/fs/cgroup/memory.current", "1000\n");
        let (bytes, says) = says(room(&root)).expect("there is a limit");
        assert_eq!(bytes, 4000.0);
        assert!(says.contains("control group /sys/fs/cgroup"), "{says}");
        fs::remove_dir_all(&root).expect("its own folder");
    }

    #[test]
    fn a_run_that_does_not_fit_is_refused_with_a_way_out() {
        let plan = load("rtt-variation", &Overrides::default()).expect("a built-in");
        let of = |bytes: f64| Room {
            bytes,
            says: "said".to_owned(),
        };
        let said_on =
            |bytes: f64, jobs: usize, threads: usize| match within(&of(bytes), &plan, jobs, &|_| {
                threads
            }) {
                Err(Failure::User(report)) => {
                    let help = report.help().map(|h| h.to_string()).unwrap_or_default();
                    format!("{report} | {help}")
                }
                Err(_) => panic!("the user asked for it"),
                Ok(()) => String::new(),
            };
        let said = |bytes: f64, jobs: usize| said_on(bytes, jobs, 1);
        let (one, many) = (plan.peak_bytes(1), plan.peak_bytes(8));
        assert!(many > one);
        assert_eq!(said(many, 8), "");
        let text = said(0.5 * (one + many), 8);
        for part in [
            "rtt-variation needs about",
            "128 hosts",
            "(said)",
            "--jobs 1",
            "--anyway",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("--threads"), "{text}");
        let more = plan.peak_bytes_on(8, |_| 8);
        assert!(more > many);
        let text = said_on(0.5 * (many + more), 8, 8);
        assert!(text.contains("--threads 1 needs"), "{text}");
        let text = said(1e6, 8);
        assert!(
            !text.contains("--jobs 1") && text.contains("queue-interval=0"),
            "{text}"
        );
    }
}
