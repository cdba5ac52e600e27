// SPDX-License-Identifier: MIT OR Apache-2.0
//! The catalogue's markers by themselves, on arrays of packets.

use std::sync::{Mutex, PoisonError};

use cemark_marking::catalogue::{self, Builtin};
use cemark_marking::{At, Marker, QueueId, QueueSpec, Values, Verdict};
use cemark_scenario::{Overrides, parse};
use cemark_sim::config::MarkerChoice;
use cemark_wire::Nanos;
use numpy::{PyReadonlyArray1, PyReadwriteArray1};
use pyo3::prelude::*;

use crate::errors;

/// A marker of one queue of its own.
#[pyclass(frozen, module = "cemark._native")]
pub(crate) struct NativeMarker(Mutex<Builtin>);

/// A field of packets: an array, one value for all, or nothing.
#[derive(FromPyObject)]
enum Wide<'py> {
    One(u64),
    Each(PyReadonlyArray1<'py, u64>),
}

/// A field of packets with 32 bits: an array, one value for all, or nothing.
#[derive(FromPyObject)]
enum Narrow<'py> {
    One(u32),
    Each(PyReadonlyArray1<'py, u32>),
}

impl Wide<'_> {
    fn slice(&self) -> PyResult<Option<&[u64]>> {
        match self {
            Wide::One(_) => Ok(None),
            Wide::Each(array) => Ok(Some(array.as_slice()?)),
        }
    }

    fn one(&self) -> u64 {
        match self {
            Wide::One(value) => *value,
            Wide::Each(_) => 0,
        }
    }
}

impl Narrow<'_> {
    fn slice(&self) -> PyResult<Option<&[u32]>> {
        match self {
            Narrow::One(_) => Ok(None),
            Narrow::Each(array) => Ok(Some(array.as_slice()?)),
        }
    }

    fn one(&self) -> u32 {
        match self {
            Narrow::One(value) => *value,
            Narrow::Each(_) => 0,
        }
    }
}

/// The fields of packets as slices of equal length; what has none is in `usual`.
#[derive(Clone, Copy)]
struct Packets<'a> {
    usual: At,
    now: &'a [u64],
    sojourn: Option<&'a [u64]>,
    round: Option<&'a [u64]>,
    hash: Option<&'a [u64]>,
    pkt_bytes: Option<&'a [u32]>,
    queue_bytes: Option<&'a [u32]>,
    port_bytes: Option<&'a [u32]>,
    pool_bytes: Option<&'a [u32]>,
    limit_bytes: Option<&'a [u32]>,
}

impl Packets<'_> {
    /// Whether all arrays have a value for each packet.
    fn fit(&self, out: usize) -> bool {
        let n = self.now.len();
        let wide = [self.sojourn, self.round, self.hash];
        let narrow = [
            self.pkt_bytes,
            self.queue_bytes,
            self.port_bytes,
            self.pool_bytes,
            self.limit_bytes,
        ];
        out == n
            && wide.into_iter().flatten().all(|a| a.len() == n)
            && narrow.into_iter().flatten().all(|a| a.len() == n)
    }

    #[inline]
    fn at(&self, i: usize) -> At {
        let mut at = self.usual;
        at.now = Nanos(self.now[i]);
        if let Some(a) = self.sojourn {
            at.sojourn = Nanos(a[i]);
        }
        if let Some(a) = self.round {
            at.round = Nanos(a[i]);
        }
        if let Some(a) = self.hash {
            at.packet_hash = a[i];
        }
        if let Some(a) = self.pkt_bytes {
            at.pkt_bytes = a[i];
        }
        if let Some(a) = self.queue_bytes {
            at.queue_bytes = a[i];
            // A queue that is alone on its port, unless more is known.
            (at.port_bytes, at.pool_bytes) = (a[i], a[i]);
        }
        if let Some(a) = self.port_bytes {
            at.port_bytes = a[i];
        }
        if let Some(a) = self.pool_bytes {
            at.pool_bytes = a[i];
        }
        if let Some(a) = self.limit_bytes {
            at.limit_bytes = a[i];
        }
        at
    }
}

/// A verdict as a byte: 0 passes, 1 + reason marks, 129 + reason drops.
#[inline]
fn coded(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Pass => 0,
        Verdict::Mark(why) => 1 + why as u8,
        Verdict::Drop(why) => 129 + why as u8,
    }
}

#[pymethods]
impl NativeMarker {
    /// A marker of `scheme` with parameters in TOML, at a queue of a link of `rate`.
    #[new]
    fn new(py: Python<'_>, scheme: &str, toml: &str, rate: &str, mtu: u32) -> PyResult<Self> {
        let values = values(scheme, toml, rate).map_err(|e| {
            let message = format!("{scheme}: {}", e.message());
            errors::of_argument(py, message, e.help_text().unwrap_or_default())
        })?;
        let bits = cemark_scenario::read_quantity(rate, cemark_scenario::Measure::Rate);
        let bits = bits.map_err(|why| errors::of_argument(py, why, "write such as \"10Gbps\""))?;
        let spec = catalogue::find(scheme).expect("the scenario has found it");
        let queue = QueueSpec {
            mtu,
            ..QueueSpec::fifo(cemark_wire::Rate(bits))
        };
        Ok(NativeMarker(Mutex::new(catalogue::build(
            spec, &values, &queue,
        ))))
    }

    /// Judges packets in order, at `enqueue` or else at dequeue, and writes a byte for each.
    #[pyo3(signature = (joins, out, now, sojourn, round, packet_hash, pkt_bytes, queue_bytes,
        port_bytes, pool_bytes, limit_bytes))]
    #[expect(clippy::too_many_arguments, reason = "the fields of a packet")]
    fn judge(
        &self,
        py: Python<'_>,
        joins: bool,
        mut out: PyReadwriteArray1<'_, u8>,
        now: PyReadonlyArray1<'_, u64>,
        sojourn: Wide<'_>,
        round: Wide<'_>,
        packet_hash: Wide<'_>,
        pkt_bytes: Narrow<'_>,
        queue_bytes: Narrow<'_>,
        port_bytes: Option<Narrow<'_>>,
        pool_bytes: Option<Narrow<'_>>,
        limit_bytes: Narrow<'_>,
    ) -> PyResult<()> {
        let backlog = queue_bytes.one();
        let or_queue = |field: &Option<Narrow<'_>>| field.as_ref().map_or(backlog, Narrow::one);
        let usual = At {
            round: Nanos(round.one()),
            packet_hash: packet_hash.one(),
            port_bytes: or_queue(&port_bytes),
            pool_bytes: or_queue(&pool_bytes),
            limit_bytes: limit_bytes.one(),
            ..At::departure(Nanos::ZERO, Nanos(sojourn.one()), backlog, pkt_bytes.one())
        };
        let packets = Packets {
            usual,
            now: now.as_slice()?,
            sojourn: sojourn.slice()?,
            round: round.slice()?,
            hash: packet_hash.slice()?,
            pkt_bytes: pkt_bytes.slice()?,
            queue_bytes: queue_bytes.slice()?,
            port_bytes: port_bytes.as_ref().map_or(Ok(None), Narrow::slice)?,
            pool_bytes: pool_bytes.as_ref().map_or(Ok(None), Narrow::slice)?,
            limit_bytes: limit_bytes.slice()?,
        };
        let out = out.as_slice_mut()?;
        if !packets.fit(out.len()) {
            let message = format!("the arrays are not all of {} packets", packets.now.len());
            let help = "give each field an array of the same length, or one value for all";
            return Err(errors::of_argument(py, message, help));
        }
        py.detach(|| {
            let mut marker = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            // A copy on the stack: the compiler need not fear that `out` overlaps it.
            let mut own = *marker;
            match joins {
                true => each(out, |i| own.enqueue(&packets.at(i))),
                false => each(out, |i| own.dequeue(&packets.at(i))),
            }
            *marker = own;
        });
        Ok(())
    }

    /// The queue has become empty.
    fn emptied(&self, now: u64) {
        let mut marker = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        marker.emptied(QueueId(0), Nanos(now));
    }

    /// Where it judges: `enqueue`, `dequeue` or `both`.
    fn hook(&self) -> &'static str {
        let marker = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        crate::own::hook_name(marker.hook())
    }
}

fn each(out: &mut [u8], mut judge: impl FnMut(usize) -> Verdict) {
    for (i, out) in out.iter_mut().enumerate() {
        *out = coded(judge(i));
    }
}

/// Parameters as a scenario file has them: the same units, the same errors.
fn values(scheme: &str, toml: &str, rate: &str) -> Result<Values, cemark_scenario::Error> {
    let text = format!(
        "[topology]\nkind = \"star\"\nhosts = 2\nrate = {rate:?}\n\
         [[workload]]\nkind = \"poisson\"\nsizes = \"1KB\"\nload = 0.5\nflows = 1\n\
         [[scheme]]\nmarker = {scheme:?}\n{toml}"
    );
    let plan = parse(&text, scheme, &Overrides::default())?;
    match &plan.points[0].config.switch.marker {
        MarkerChoice::Builtin { values, .. } => Ok(*values),
        _ => unreachable!("only schemes of the catalogue have a class"),
    }
}
