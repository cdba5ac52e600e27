// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two connections that talk, and senders with a controller of one's own.

use std::collections::BTreeMap;

use cemark_param::config;
use cemark_transport::cc::{
    Acked, Build, CeCounted, Controller, ControllerSpec, FromControl, Lost, PathSpec, boxed,
};
use cemark_transport::{Config, Connection, Control, Event, Frame, MessageId, Sender};
use cemark_wire::{Ecn, Flags, Nanos, Rate};

/// Two endpoints 50 us apart; every `lose`th frame vanishes. Returns each end's events.
fn talk(cfg: &Config, lose: u64, mut react: impl FnMut(usize, Event, &mut Connection)) -> Nanos {
    let mut now = Nanos::ZERO;
    let mut ends = [Connection::new(cfg.clone()), Connection::new(cfg.clone())];
    let mut wire: BTreeMap<(Nanos, u64), (usize, Frame)> = BTreeMap::new();
    let mut frames = 0;
    ends[0].write(3_000);
    loop {
        for (i, end) in ends.iter_mut().enumerate() {
            while let Some(event) = end.poll_event() {
                react(i, event, end);
            }
            while let Some(frame) = end.poll_transmit(now) {
                frames += 1;
                if lose == 0 || frames % lose != 0 {
                    wire.insert((now + Nanos::from_micros(50), frames), (1 - i, frame));
                }
            }
        }
        let arrival = wire.keys().next().map(|k| k.0);
        let timer = ends.iter().filter_map(Connection::poll_timeout).min();
        match (arrival, timer) {
            (None, None) => return now,
            (Some(at), timer) if timer.is_none_or(|t| at <= t) => {
                now = at;
                let (_, (i, frame)) = wire.pop_first().unwrap();
                ends[i].handle(now, &frame);
            }
            (_, Some(at)) => {
                now = at;
                ends.iter_mut().for_each(|e| e.handle_timeout(now));
            }
            (Some(_), None) => unreachable!("an arrival without a timer was taken above"),
        }
    }
}

#[test]
fn requests_and_responses_cross_even_where_frames_vanish() {
    for (handshake, lose) in [(false, 0), (true, 0), (true, 7), (false, 3)] {
        let cfg = Config {
            handshake,
            ack_every: 2,
            ..Config::default()
        };
        let (mut asked, mut answered, mut done) = (1, 0, Vec::new());
        let end = talk(&cfg, lose, |i, event, c| match (i, event) {
            // The server answers each whole request of 3000 bytes with 20000.
            (1, Event::Received(bytes)) => {
                while answered < bytes / 3_000 {
                    answered += 1;
                    c.write(20_000);
                }
            }
            (0, Event::Received(bytes)) => {
                while asked < 10 && bytes / 20_000 >= asked {
                    asked += 1;
                    c.write(3_000);
                }
            }
            (0, Event::Acknowledged(id)) => done.push(id),
            _ => {}
        });
        assert_eq!((asked, answered), (10, 10));
        assert_eq!(done, (0..10).map(MessageId).collect::<Vec<_>>());
        if (handshake, lose) == (false, 0) {
            // Ten exchanges of a request (50 us) and a response of 14 segments: 10, and 4 a round
            // trip later in the first.
            assert!(end < Nanos::from_micros(2_500), "{end:?}");
        }
    }
}

/// A controller that sends two segments per millisecond and counts its calls.
#[derive(Debug, Default)]
struct Metronome {
    marks: u32,
    woken: u32,
}

impl Controller for Metronome {
    fn ecn(&self) -> Ecn {
        Ecn::Ect1
    }
    fn on_ack(&mut self, _: &Acked) {}
    fn on_ce(&mut self, _: &CeCounted) {
        self.marks += 1;
    }
    fn on_loss(&mut self, _: &Lost) {}
    fn restart(&mut self, _: u64) {}
    fn cwnd(&self) -> u64 {
        1_000_000
    }
    fn pacing_rate(&self) -> Option<Rate> {
        Some(Rate(2 * 1_500 * 8 * 1_000))
    }
    fn next_wake(&self) -> Option<Nanos> {
        (self.woken == 0).then_some(Nanos::from_micros(100))
    }
    fn wake(&mut self, _: Nanos) {
        self.woken += 1;
    }
}

#[test]
fn a_controller_of_your_own_paces_and_is_woken() {
    let cfg = Config {
        rto_init: Nanos::from_millis(50),
        ..Config::default()
    };
    let mut s = Sender::with_controller(&cfg, Box::new(Metronome::default()));
    assert_eq!(s.pacing_rate(), Some(Rate::mbps(24)));
    s.write(100_000);
    let first = s.poll_transmit(&cfg, Nanos::ZERO).unwrap();
    assert_eq!(first.ecn, Ecn::Ect1);
    assert!(!s.can_send(&cfg) && s.poll_transmit(&cfg, Nanos::ZERO).is_none());
    assert_eq!(
        s.timeout(),
        Some(Nanos::from_micros(100)),
        "the controller wants to be woken first"
    );
    s.on_timeout(&cfg, Nanos::from_micros(100));
    assert!(!s.can_send(&cfg), "that did not open the gate");
    assert_eq!(s.timeout(), Some(Nanos::from_micros(500)));
    s.on_timeout(&cfg, Nanos::from_micros(500));
    assert_eq!(
        s.poll_transmit(&cfg, Nanos::from_micros(500)).unwrap().seq,
        1460
    );
    assert_eq!(
        (s.stats().timeouts, first.flags.has(Flags::RETX)),
        (0, false)
    );
}

config! {
    /// Parameters of a test.
    pub struct LoudConfig {
        /// Nothing reads it.
        loud: bool = flag(true),
    }
}

static SPEC: ControllerSpec = ControllerSpec {
    params: LoudConfig::PARAMS,
    ecn: true,
    paced: true,
    ..ControllerSpec::new(
        "metronome",
        "Metronome",
        "Two segments per millisecond.",
        Build::Stream(boxed::<Metronome>),
    )
};

impl FromControl for Metronome {
    fn from_control(_: &PathSpec, control: &Control) -> Metronome {
        let loud = control.values().get(0);
        assert_eq!(loud, 1, "the default");
        Metronome::default()
    }
}

/// A user's controller, declared as the built-in ones are: a configuration names it, and nothing
/// else has to know it.
#[test]
fn a_declared_controller_of_your_own_is_made_from_the_configuration() {
    let cfg = Config {
        control: Control::of(&SPEC),
        ..Config::default()
    };
    assert!(cfg.is_paced() && cfg.control.ecn_capable());
    assert_eq!(format!("{:?}", cfg.control), "metronome { loud: 1 }");
    let mut s = Sender::new(&cfg);
    s.write(100_000);
    assert_eq!(s.poll_transmit(&cfg, Nanos::ZERO).unwrap().ecn, Ecn::Ect1);
    assert!(!s.can_send(&cfg), "it is paced");
}
