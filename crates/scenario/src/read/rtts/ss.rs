// SPDX-License-Identifier: MIT OR Apache-2.0
//! The output of `ss -tin` of Linux: the smallest RTT that the kernel saw of each connection.
//!
//! A connection has a line with its addresses and, behind it or in the next line, words such as
//! `rtt:12.3/4.5 minrtt:0.052` in milliseconds. `minrtt` is the base RTT. `rtt` is smoothed and
//! contains queueing, so a connection without `minrtt` counts with none.

use std::collections::BTreeMap;

use cemark_sim::workload::{RttModel, Samples};
use cemark_wire::Picos;

use super::column::significant;
use super::value::{rtt, unit};
use super::{Ask, Found, Trouble};

/// Beginning of the word that has the base RTT.
const MINRTT: &str = "minrtt:";

/// The advice where no connection has a base RTT.
const HELP: &str = "`ss -tin` of an established connection prints minrtt: type \
                    `ss -tin state established`, and write that into the file";

/// Addresses and ports of this host and of its peer.
type Ends<'a> = (&'a str, &'a str);

/// Whether a text is the output of `ss`.
pub(super) fn is_output(text: &str) -> bool {
    // Numbers tell words of `ss` from names of columns.
    let has = |word: &str| {
        let mut places = text.match_indices(word);
        places.any(|(at, _)| text[at + word.len()..].starts_with(|c: char| c.is_ascii_digit()))
    };
    let mut lines = significant(text);
    has(MINRTT)
        || has(" rtt:")
        || lines
            .next()
            .is_some_and(|(_, first)| first.contains("Recv-Q") || ends(&words(first)).is_some())
}

/// Reads the base RTT of each connection. A connection that is printed several times counts once,
/// with its smallest.
pub(super) fn read(text: &str, ask: &Ask) -> Result<Found, Trouble> {
    check(ask)?;
    let millis = unit("ms");
    let mut of: BTreeMap<Ends<'_>, Picos> = BTreeMap::new();
    let mut nameless: Vec<Picos> = Vec::new();
    let (mut connections, mut local) = (0_u64, 0_u64);
    // The connection whose `minrtt` has not come yet.
    let mut open: Option<Ends<'_>> = None;
    for (line, text) in significant(text) {
        let words = words(text);
        if let Some(ends) = ends(&words) {
            // A socket that listens has no peer.
            connections += u64::from(!ends.1.ends_with(":*"));
            open = Some(ends);
        }
        for value in words.iter().filter_map(|word| word.strip_prefix(MINRTT)) {
            let value = rtt(value, millis).map_err(|t| t.at(line))?;
            match open.take() {
                Some((_, peer)) if is_loopback(peer) => local += 1,
                Some(ends) => {
                    let smallest = of.entry(ends).or_insert(value);
                    *smallest = value.min(*smallest);
                }
                None => nameless.push(value),
            }
        }
    }
    let mut notes = Vec::new();
    if !nameless.is_empty() {
        let note = format!(
            "{} RTTs have no line of addresses before them: connections over loopback are not told \
             from others",
            nameless.len()
        );
        notes.push((
            note,
            "keep both lines that `ss -tin` prints of a connection",
        ));
    }
    let values = of.into_values().chain(nameless);
    let samples = Samples::new(values).ok_or_else(|| none(connections, local))?;
    Ok(Found {
        model: RttModel::Samples(samples),
        notes,
    })
}

/// Refuses keys that describe a table.
fn check(ask: &Ask) -> Result<(), Trouble> {
    if ask.column.is_some() {
        let what = "it is the output of `ss`, which has no columns of RTTs".to_owned();
        return Err(Trouble::new(what, "leave `column` out: minrtt is read"));
    }
    if ask.unit.is_some() && ask.unit != unit("ms") {
        let what = "it is the output of `ss`, which prints milliseconds".to_owned();
        return Err(Trouble::new(what, "leave `unit` out"));
    }
    Ok(())
}

/// The reason why there is no RTT.
fn none(connections: u64, local: u64) -> Trouble {
    if local > 0 {
        return Trouble::new(
            "all its connections with a minrtt are over loopback".to_owned(),
            "run `ss -tin` on a host that has connections to other hosts",
        );
    }
    let what = match connections {
        0 => "it is the output of `ss` and has no minrtt".to_owned(),
        1 => "it has 1 connection, and no minrtt".to_owned(),
        n => format!("it has {n} connections, and no minrtt"),
    };
    Trouble::new(what, HELP)
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// The addresses of a line of a connection, which follow the lengths of its two queues.
fn ends<'a>(words: &[&'a str]) -> Option<Ends<'a>> {
    let is_length = |word: &str| word.bytes().all(|b| b.is_ascii_digit());
    words.windows(4).find_map(|four| match *four {
        [received, sent, here, peer] => {
            let lengths = is_length(received) && is_length(sent);
            (lengths && here.contains(':') && peer.contains(':')).then_some((here, peer))
        }
        _ => None,
    })
}

/// Whether an address with a port is one of the host itself: `127.0.0.1:80`, `[::1]:80`,
/// `[::ffff:127.0.0.1]:80`, `localhost:http`.
fn is_loopback(end: &str) -> bool {
    let address = end.rsplit_once(':').map_or(end, |(address, _)| address);
    // An interface follows an address: `127.0.0.1%lo`.
    let address = address.split('%').next().unwrap_or(address);
    let address = address.trim_matches(['[', ']']);
    let address = address.strip_prefix("::ffff:").unwrap_or(address);
    let names = ["::1", "localhost", "ip6-localhost", "ip6-loopback"];
    address.starts_with("127.") || names.contains(&address)
}

#[cfg(test)]
mod tests {
    use super::super::{Ask, Column, Series, parse};
    use super::*;

    /// Two connections over IPv4, one over loopback, one that listens, one without `minrtt`.
    const IPV4: &str = "\
State    Recv-Q Send-Q     Local Address:Port       Peer Address:Port Process
ESTAB    0      0              10.0.1.17:22             10.0.0.5:51234
\t cubic wscale:7,7 rto:204 rtt:3.41/4.5 ato:40 mss:1448 pmtu:1500 rcvmss:1448 advmss:1448 \
cwnd:10 bytes_sent:3697 bytes_acked:3697 segs_out:31 send 33.9Mbps lastsnd:4 pacing_rate \
67.9Mbps delivery_rate 22.1Mbps app_limited busy:92ms rcv_space:14480 minrtt:0.052
LISTEN   0      128              0.0.0.0:80              0.0.0.0:*
\t cubic cwnd:10
ESTAB    0      36             10.0.1.17:9100          10.0.2.40:44122 users:((\"node\",pid=9,fd=3))
\t bbr wscale:9,7 rto:201 rtt:0.9/0.1 bbr:(bw:1.2Gbps,mrtt:0.7,pacing_gain:1) minrtt:0.71 \
snd_wnd:64128
ESTAB    0      0              127.0.0.1:5432          127.0.0.1:40112
\t cubic wscale:7,7 rto:200 rtt:0.03/0.01 minrtt:0.007
SYN-SENT 0      1              10.0.1.17:40001          10.9.9.9:443
\t cubic rto:1000 rtt:0.4/0.2 mss:524 cwnd:1
";

    /// Two connections over IPv6, one to an IPv4 host, two over loopback, without `-n`.
    const IPV6: &str = "\
State Recv-Q Send-Q      Local Address:Port      Peer Address:Port
ESTAB 0      0       [2001:db8::11]:ssh     [2001:db8::5]:51234
\t dctcp wscale:7,7 rto:201 rtt:0.1/0.02 minrtt:0.052
ESTAB 0      0      [fe80::1]%eth0:ssh     [fe80::2]%eth0:51234
\t dctcp wscale:7,7 rto:201 rtt:0.1/0.02 minrtt:0.71
ESTAB 0      0               [::1]:http             [::1]:51234
\t dctcp wscale:7,7 rto:201 rtt:0.1/0.02 minrtt:0.003
ESTAB 0      0  [::ffff:127.0.0.1]:http [::ffff:127.0.0.1]:99
\t dctcp wscale:7,7 rto:201 rtt:0.1/0.02 minrtt:0.003
ESTAB 0      0           localhost:http          localhost:98
\t dctcp wscale:7,7 rto:201 rtt:0.1/0.02 minrtt:0.003
";

    const NOTHING: Ask = Ask {
        column: None,
        unit: None,
        series: Series::One,
    };

    fn samples(text: &str) -> (Samples, usize) {
        let found = parse(text, &NOTHING).unwrap_or_else(|t| panic!("{text}: {}", t.what));
        match found.model {
            RttModel::Samples(samples) => (samples, found.notes.len()),
            other => panic!("{text}: {other:?}"),
        }
    }

    fn trouble(text: &str, ask: &Ask) -> Trouble {
        parse(text, ask).map(|_| ()).expect_err(text)
    }

    /// 52 and 710 us, in every shape that `ss` has.
    #[test]
    fn each_shape_has_the_smallest_rtts() {
        let headless = |text: &str| text.split_once('\n').expect("lines").1.to_owned();
        let two = Samples::new(vec![Picos::from_micros(52), Picos::from_micros(710)]);
        for text in [
            IPV4.to_owned(),
            IPV6.to_owned(),
            // `-H`, and without the column of states of `ss -tin state established`.
            headless(IPV4),
            headless(IPV6),
            headless(IPV4).replace("ESTAB    ", ""),
            // `-O` prints a connection in one line; a mail wraps it.
            IPV4.replace("\n\t", " "),
            IPV4.replace(" rtt:", "\n\trtt:")
                .replace(" minrtt:", "\n\t minrtt:"),
            IPV4.replace("\n\t ", "\r\n"),
            // `-i` of all protocols, and a loop that prints all of them again.
            headless(IPV4).replace("ESTAB ", "tcp ESTAB "),
            format!("{IPV4}\n{}", IPV4.replace("minrtt:0.71", "minrtt:0.9")),
        ] {
            assert!(is_output(&text), "{text}");
            let (found, notes) = samples(&text);
            assert_eq!((Some(found), notes), (two.clone(), 0), "{text}");
        }
    }

    #[test]
    fn lines_without_addresses_are_read_with_a_note() {
        let lines: Vec<&str> = IPV4.lines().filter(|l| l.contains("minrtt")).collect();
        let (found, notes) = samples(&lines.join("\n"));
        assert_eq!((found.count(), notes), (3, 1));
    }

    #[test]
    fn output_without_a_base_rtt_says_what_to_type() {
        let bare: Vec<&str> = IPV4.lines().filter(|l| !l.starts_with('\t')).collect();
        let smoothed = IPV4.replace("minrtt:", "m:");
        for (text, says, help) in [
            (
                bare.join("\n"),
                "it has 4 connections, and no minrtt",
                "`ss -tin`",
            ),
            (
                bare[1].to_owned(),
                "it has 1 connection, and no minrtt",
                "`ss -tin`",
            ),
            (bare[0].to_owned(), "has no minrtt", "`ss -tin`"),
            (smoothed, "it has 4 connections, and no minrtt", "`ss -tin`"),
            (
                IPV4.replace("10.0.0.5", "127.0.0.2")
                    .replace("10.0.2.40", "127.0.0.1"),
                "are over loopback",
                "other hosts",
            ),
            (
                IPV4.replace("minrtt:0.71", "minrtt:0.7x"),
                "`x` is not a unit",
                "ms",
            ),
        ] {
            let t = trouble(&text, &NOTHING);
            assert!(t.what.contains(says), "{text}: {}", t.what);
            assert!(t.help.contains(help), "{text}: {}", t.help);
        }
    }

    #[test]
    fn keys_of_a_table_are_refused() {
        let column = Ask {
            column: Some(Column::Number(1)),
            ..NOTHING
        };
        let micros = Ask {
            unit: unit("us"),
            ..NOTHING
        };
        assert!(trouble(IPV4, &column).help.contains("leave `column` out"));
        assert!(trouble(IPV4, &micros).help.contains("leave `unit` out"));
        let millis = Ask {
            unit: unit("ms"),
            ..NOTHING
        };
        assert!(parse(IPV4, &millis).is_ok());
    }

    #[test]
    fn tables_are_no_output_of_ss() {
        for text in [
            "minrtt: us\n90\n",
            "time,src,dst,rtt_us\n12:00:01,10.0.0.1:7,10.0.0.2:7,90\n",
            "host rtt: x\n1\n",
            "",
        ] {
            assert!(!is_output(text), "{text}");
        }
    }
}
