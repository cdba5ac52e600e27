// SPDX-License-Identifier: MIT OR Apache-2.0
//! HPCC's `config.txt` as sections of a scenario: hosts, buffers and pauses, marking.

use cemark_formats::exact::{self, length, rate};
use cemark_formats::hpcc::{Config, Control, USUAL_PAYLOAD};
use cemark_formats::{Fallible, Fault};
use cemark_scenario::visible;
use cemark_sim::topology::Topology;
use cemark_wire::{Picos, Rate};
use minijinja::{Value, context};

use super::Found;

/// The thresholds of every switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Marks {
    /// Bytes.
    kmin: u64,
    /// Bytes.
    kmax: u64,
    /// Probability at `kmax`.
    pmax: f64,
    /// The rate that they are for, where ports of other rates have them in proportion.
    per: Option<Rate>,
    /// They are of the file.
    said: bool,
}

/// The simulator's window. A packet may leave while fewer bytes are in flight, so that the last one
/// goes beyond it: a window that does not follow the rate is rounded up to whole packets.
fn window(topology: &Topology, payload: u32, by_rate: bool) -> u64 {
    let product = topology.bandwidth_delay(payload).min(1 << 39);
    let payload = u64::from(payload.max(1));
    let whole = match by_rate {
        true => product,
        false => product.max(1).div_ceil(payload) * payload,
    };
    whole.max(1_500)
}

/// The rates of links, the hosts' first.
fn rates(topology: &Topology) -> Vec<Rate> {
    let mut rates = vec![topology.host_rate()];
    for link in topology.fabric().links() {
        if !rates.contains(&link.rate) {
            rates.push(link.rate);
        }
    }
    rates
}

/// Thresholds that hold at the links of every rate: equal ones, or ones in proportion to the rate.
pub(super) fn marks(topology: &Topology, config: Option<&Config>) -> Fallible<Marks> {
    let rates = rates(topology);
    let host = rates[0];
    let several = rates.len() > 1;
    let Some(config) = config.filter(|config| !config.ramps.is_empty()) else {
        // 100 and 400 KB at 25 Gb/s.
        let part = |bytes: u64| {
            let part = u128::from(host.0) * u128::from(bytes) / 25_000_000_000;
            u64::try_from(part).unwrap_or(u64::MAX)
        };
        return Ok(Marks {
            kmin: part(100_000),
            kmax: part(400_000),
            pmax: 0.2,
            per: several.then_some(host),
            said: false,
        });
    };
    let of = |speed: Rate| {
        config.ramp(speed).ok_or_else(|| {
            Fault::whole(
                format!(
                    "KMIN_MAP, KMAX_MAP and PMAX_MAP have no value for links of {}",
                    rate(speed.0)
                ),
                "name every rate of the topology's links in all three, as the simulator asks",
            )
        })
    };
    let own = of(host)?;
    let mut marks = Marks {
        kmin: own.kmin,
        kmax: own.kmax,
        pmax: own.pmax,
        per: None,
        said: true,
    };
    let (mut equal, mut rising) = (true, true);
    for &speed in &rates[1..] {
        let other = of(speed)?;
        let scaled = |a: u64, b: u64| {
            u128::from(a) * u128::from(speed.0) == u128::from(b) * u128::from(host.0)
        };
        equal &= (other.kmin, other.kmax, other.pmax) == (own.kmin, own.kmax, own.pmax);
        rising &=
            scaled(own.kmin, other.kmin) && scaled(own.kmax, other.kmax) && own.pmax == other.pmax;
        if !equal && !rising {
            return Err(Fault::whole(
                format!(
                    "the thresholds at {} and {} are neither equal nor in proportion to the rate",
                    rate(host.0),
                    rate(speed.0)
                ),
                "write KMIN_MAP and KMAX_MAP in proportion to the rates, with one probability in \
                 PMAX_MAP: 100 at 25 Gb/s is 400 at 100 Gb/s",
            ));
        }
    }
    marks.per = (several && !equal).then_some(host);
    Ok(marks)
}

/// The values of the template: an option that is absent leaves its line out.
pub(super) fn values(found: &Found, marks: &Marks) -> Value {
    let usual = Config::default();
    let config = found.config.as_ref().unwrap_or(&usual);
    let given = found.config.is_some();
    let dctcp = config.control == Some(Control::Dctcp);
    let rates = rates(&found.topology);
    let speed = |value: Option<Rate>| value.map(|rate| exact::rate(rate.0));
    let span = |value: Option<Picos>| value.map(|picos| exact::time(picos.0));
    let payload = config.payload.unwrap_or(USUAL_PAYLOAD);
    let by_rate = config.window && config.window_by_rate && !dctcp;
    let threshold = |bytes: u64| length(bytes.min(u32::MAX.into()));
    context! {
        given,
        differs => found.differs.iter().map(|text| visible(text).into_owned()).collect::<Vec<_>>(),
        control => config.control.map(|control| match control {
            Control::Dctcp => "dctcp",
            Control::Dcqcn => "dcqcn",
        }),
        payload => config.payload,
        window => (given && config.window).then(|| window(&found.topology, payload, by_rate)),
        by_rate,
        acks => config.acks,
        gain => config.gain.map(|gain| gain.to_string()),
        rate_ai => speed(config.rate_ai),
        rate_hai => speed(config.rate_hai),
        min_rate => speed(config.min_rate.or(given.then_some(Rate::mbps(100)))),
        alpha_timer => span(config.alpha_timer),
        rate_timer => span(config.rate_timer),
        cut_gap => span(config.cut_gap),
        recovery => config.recovery,
        clamp => config.clamp.map(|on| on.to_string()),
        pauses => !config.no_pauses,
        faster_links => rates.iter().any(|rate| *rate > rates[0]),
        buffer => config.buffer.map(length),
        marks => !config.unmarked,
        said => marks.said,
        per => speed(marks.per),
        several_rates => rates.len() > 1,
        host_rate => rate(found.topology.host_rate().0),
        kmin => threshold(marks.kmin),
        kmax => threshold(marks.kmax),
        pmax => percent(marks.pmax),
    }
}

/// A share as percent, without the digits that its multiplication by 100 adds.
fn percent(share: f64) -> String {
    let text = format!("{:.9}", share * 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use cemark_sim::topology::{Dumbbell, Star};
    use cemark_wire::Picos;

    use super::*;

    /// 25 Gb/s, 1 us, two links, 1000 bytes: 4000 ns there and back and 2 x 320 ns are 14,500
    /// bytes, in packets of 1000 bytes 15.
    #[test]
    fn the_window_is_the_largest_product_in_whole_packets() {
        let star = |gbps: u64| {
            Topology::from(Star {
                hosts: 17,
                rate: Rate::gbps(gbps),
                delay: Picos::from_micros(1),
            })
        };
        assert_eq!(window(&star(25), 1000, false), 15_000);
        // A path over the slow link in the middle has less in flight than one beside it.
        let dumbbell = |left| {
            Topology::from(Dumbbell {
                left,
                right: 1,
                host_rate: Rate::gbps(25),
                middle_rate: Rate::gbps(1),
                host_delay: Picos::from_micros(1),
                middle_delay: Picos::from_micros(1),
            })
        };
        assert_eq!(window(&dumbbell(2), 1000, false), 15_000);
        // 6000 + 8000 + 2 x 320 ns at 1 Gb/s: 1830 bytes.
        assert_eq!(window(&dumbbell(1), 1000, false), 2_000);
        assert_eq!(window(&dumbbell(1), 1000, true), 1_830);
        assert_eq!(percent(0.2), "20");
        assert_eq!(percent(0.07), "7");
        assert_eq!(percent(1.0), "100");
        assert_eq!(percent(0.0), "0");
    }
}
