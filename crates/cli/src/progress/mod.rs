// SPDX-License-Identifier: MIT OR Apache-2.0
//! How far a run is, on standard error: a bar on a terminal, elsewhere a line every ten seconds.

mod estimate;
mod text;

use std::ops::Range;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use cemark_runner::Show;
use cemark_runner::clock::Stopwatch;
use cemark_scenario::{Plan, Point, visible};
use indicatif::{ProgressBar, ProgressStyle};

use self::estimate::{Estimate, Estimator, Job};
use crate::exit::note;
use crate::terminal::{error_width, has_bars};

/// Between two lines where there is no terminal.
const LINES: Duration = Duration::from_secs(10);
/// Between two pictures of the bar.
const PICTURES: Duration = Duration::from_millis(250);
/// A point's reports are passed on at most this often, in seconds: it makes hundreds a second.
const REPORTS: f64 = 1.0;
/// Seconds over which the speed of a single point is taken.
const SPEED: f64 = 2.0;

/// Shows how far the points are until it is cleared or dropped.
pub(crate) struct Progress {
    board: Arc<Mutex<Board>>,
    /// `None` where nothing is shown.
    painter: Option<Painter>,
    /// The bar, hidden where there is no terminal.
    bar: ProgressBar,
}

/// The thread that draws; it ends when the sender goes away.
struct Painter {
    end: Sender<()>,
    thread: JoinHandle<()>,
}

/// Progress of the run: its time, plans and points.
struct Board {
    watch: Stopwatch,
    estimator: Estimator,
    /// The name of each plan, and the places of its points.
    stages: Vec<(String, Range<usize>)>,
    /// The plan that runs.
    stage: usize,
    /// Name of the plan, where several plans run one after the other.
    title: String,
    /// Points of all plans.
    points: Vec<State>,
    /// The largest percentage shown so far: it never goes back.
    shown: u32,
    /// Packet-hops a second of a single point.
    speed: Speed,
}

/// How fast packet-hops come, over the last seconds.
#[derive(Clone, Copy, Default)]
struct Speed {
    /// When it was last looked at, and how many there were.
    before: (f64, u64),
    per_second: Option<f64>,
}

impl Speed {
    /// Looks again, but at most once in two seconds: a point reports its packet-hops in steps.
    fn of(&mut self, now: f64, hops: u64) -> Option<f64> {
        let span = now - self.before.0;
        if span >= SPEED && hops > self.before.1 {
            self.per_second = Some((hops - self.before.1) as f64 / span);
            self.before = (now, hops);
        }
        self.per_second
    }
}

#[derive(Clone, Copy, Default)]
struct State {
    hops: u64,
    reported: Option<f64>,
    began: bool,
    finished: bool,
    expected: bool,
}

impl Progress {
    /// The progress of plans that are run one after the other, each with its longest point first,
    /// this number of points at a time. `quiet` shows nothing.
    pub(crate) fn new<'a>(
        plans: impl IntoIterator<Item = &'a Plan>,
        threads: usize,
        quiet: bool,
    ) -> Self {
        let (mut jobs, mut stages) = (Vec::new(), Vec::new());
        for (stage, plan) in plans.into_iter().enumerate() {
            let first = jobs.len();
            jobs.extend(plan.points.iter().map(|point| job(stage, point)));
            stages.push((plan.name.clone(), first..jobs.len()));
        }
        let all = State {
            expected: true,
            ..State::default()
        };
        let points = vec![all; jobs.len()];
        let mut estimator = Estimator::new(jobs, threads);
        estimator.longest_first();
        let board = Arc::new(Mutex::new(Board {
            watch: Stopwatch::start(),
            points,
            estimator,
            stages,
            stage: 0,
            title: String::new(),
            shown: 0,
            speed: Speed::default(),
        }));
        let bar = bar(quiet);
        let painter = (!quiet).then(|| paint(Arc::clone(&board), bar.clone()));
        Progress {
            board,
            painter,
            bar,
        }
    }

    /// Expects these points of a plan, and no others that have not begun.
    pub(crate) fn expect(&self, stage: usize, points: &[usize]) {
        self.board().expect(stage, points);
    }

    /// Prints something on standard error without a bar in between.
    pub(crate) fn suspended(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }

    /// Removes the bar from the screen, and prints no more lines.
    pub(crate) fn clear(&mut self) {
        if let Some(painter) = self.painter.take() {
            drop(painter.end);
            // It has nothing to return, and a panic of its own has been printed.
            let _ = painter.thread.join();
        }
        self.bar.finish_and_clear();
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        locked(&self.board)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Show for Progress {
    fn starts(&self, plan: &Plan, missing: &[usize], _threads: usize) {
        let mut board = self.board();
        let mut stages = board.stages.iter();
        board.stage = stages.position(|s| s.0 == plan.name).unwrap_or(board.stage);
        board.title = visible(&plan.name).into_owned();
        let stage = board.stage;
        board.expect(stage, missing);
    }

    fn expects(&self, points: &[usize]) {
        let stage = self.board().stage;
        self.expect(stage, points);
    }

    fn notes(&self, text: &str) {
        if self.painter.is_some() {
            self.suspended(|| note(&format!("note: {text}")));
        }
    }

    fn begins(&self, point: usize) {
        let mut board = self.board();
        let (i, now) = (board.place(point), board.now());
        board.points[i].began = true;
        board.points[i].expected = true;
        board.estimator.begins(i, now);
    }

    fn at(&self, point: usize, done: f64, hops: u64) {
        let mut board = self.board();
        let (i, now) = (board.place(point), board.now());
        let state = &mut board.points[i];
        state.hops = hops;
        if state.reported.is_some_and(|last| now - last < REPORTS) {
            return;
        }
        state.reported = Some(now);
        board.estimator.at(i, now, done, hops);
    }

    fn finished(&self, point: usize, hops: u64) {
        let mut board = self.board();
        let (i, now) = (board.place(point), board.now());
        board.points[i].hops = hops;
        board.points[i].finished = true;
        board.estimator.ends(i, now, hops);
    }
}

/// A panic in another worker ends the run; its incomplete progress does no harm.
fn locked(board: &Mutex<Board>) -> MutexGuard<'_, Board> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Board {
    fn now(&self) -> f64 {
        self.watch.seconds()
    }

    /// The place of a point of the plan that runs.
    fn place(&self, point: usize) -> usize {
        self.stages[self.stage].1.start + point
    }

    fn expect(&mut self, stage: usize, points: &[usize]) {
        let of_stage = self.stages[stage].1.clone();
        for (i, state) in self.points[of_stage].iter_mut().enumerate() {
            state.expected = state.began || points.contains(&i);
        }
        let all = self
            .points
            .iter()
            .enumerate()
            .filter(|(_, state)| state.expected);
        let all: Vec<usize> = all.map(|(i, _)| i).collect();
        self.estimator.expects(&all);
    }

    /// Numbers that are shown now.
    fn state(&mut self) -> text::Shown {
        let now = self.now();
        let estimate = self.estimator.estimate(now);
        let percent = estimate.map_or(0, |e: Estimate| (e.share() * 100.0).floor() as u32);
        self.shown = self.shown.max(percent.min(99));
        let hops = self.points.iter().map(|p| p.hops).sum();
        let points = self.points.iter().filter(|p| p.expected).count();
        let single = points == 1 && self.title.is_empty();
        text::Shown {
            title: self.title.clone(),
            percent: self.shown,
            finished: self.points.iter().filter(|p| p.finished).count(),
            points,
            hops,
            speed: if single {
                self.speed.of(now, hops)
            } else {
                None
            },
            gone: now,
            left: estimate.map(|e| e.left),
        }
    }
}

/// The estimates of a point.
fn job(stage: usize, point: &Point) -> Job {
    Job {
        stage,
        hops: point.cost,
        seconds: point.cpu_seconds(),
    }
}

/// The bar, hidden where none can be drawn.
fn bar(quiet: bool) -> ProgressBar {
    if quiet || !has_bars() {
        return ProgressBar::hidden();
    }
    let template = match is_narrow() {
        true => "{bar:10} {msg}",
        false => "{bar:20} {msg}",
    };
    let style = ProgressStyle::with_template(template)
        .expect("a fixed template")
        .progress_chars("━╸─");
    ProgressBar::new(100).with_style(style)
}

/// Whether the terminal cuts off long lines.
fn is_narrow() -> bool {
    matches!(error_width(), Some(..80))
}

fn paint(board: Arc<Mutex<Board>>, bar: ProgressBar) -> Painter {
    let (end, ended) = channel();
    let draws = !bar.is_hidden();
    let every = if draws { PICTURES } else { LINES };
    let narrow = is_narrow();
    let thread = std::thread::spawn(move || {
        while ended.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
            let shown = locked(&board).state();
            if draws {
                bar.set_position(u64::from(shown.percent));
                bar.set_message(shown.beside_bar(narrow));
            } else {
                note(&shown.line());
            }
        }
    });
    Painter { end, thread }
}

#[cfg(test)]
mod tests {
    use super::{Progress, Speed};

    #[test]
    fn the_speed_is_that_of_the_last_seconds() {
        let mut speed = Speed::default();
        assert_eq!(speed.of(0.25, 0), None);
        assert_eq!(speed.of(1.0, 5), None, "too early");
        assert_eq!(speed.of(2.0, 40), Some(20.0));
        assert_eq!(speed.of(3.9, 1000), Some(20.0), "not yet");
        assert_eq!(speed.of(4.0, 240), Some(100.0));
        assert_eq!(speed.of(9.0, 240), Some(100.0), "no report since");
    }

    #[test]
    fn a_quiet_run_shows_nothing() {
        assert!(Progress::new([], 1, true).painter.is_none());
        let mut loud = Progress::new([], 1, false);
        assert!(loud.painter.is_some());
        loud.clear();
        assert!(loud.painter.is_none());
    }
}
