// SPDX-License-Identifier: MIT OR Apache-2.0
//! ns-3's FlowMonitor: an XML file with the first and last packet and the bytes of every flow.

use std::collections::BTreeMap;

use cemark_wire::Picos;

use crate::fault::{Fallible, Fault};
use crate::lines::shown;
use crate::number;

/// A flow as FlowMonitor saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Bytes of its packets at the sender, with IP and transport headers, and with what was sent
    /// again.
    pub bytes: u64,
    /// Packets at the sender.
    pub packets: u64,
    /// From its first packet at the sender to its last one at the receiver.
    pub time: Picos,
}

/// The flows of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Monitored {
    /// Flows with data.
    pub flows: Vec<Seen>,
    /// Flows of acknowledgements: the same ends and ports the other way round, and fewer bytes.
    pub acks: usize,
    /// Flows of which no packet arrived.
    pub lost: usize,
    /// Some time has an exponent: it was printed with six digits.
    pub rounded: bool,
}

/// The attributes of one element.
struct Element<'a> {
    line: usize,
    words: BTreeMap<&'a str, &'a str>,
}

/// Reads a file. Only the elements `Flow` are read.
pub fn read(text: &str) -> Fallible<Monitored> {
    if !text.contains("<FlowMonitor") {
        return Err(Fault::whole(
            "this is no file of FlowMonitor",
            "it is written by SerializeToXmlFile, and begins with <FlowMonitor>",
        ));
    }
    let mut seen: BTreeMap<u64, Seen> = BTreeMap::new();
    let mut ends: BTreeMap<u64, [&str; 5]> = BTreeMap::new();
    let mut out = Monitored::default();
    for element in elements(text)? {
        let id = element.number("flowId")?;
        if element.words.contains_key("sourceAddress") {
            let word = |name| element.words.get(name).copied().unwrap_or_default();
            ends.insert(
                id,
                [
                    word("sourceAddress"),
                    word("sourcePort"),
                    word("destinationAddress"),
                    word("destinationPort"),
                    word("protocol"),
                ],
            );
            continue;
        }
        if element.number("rxPackets")? == 0 {
            out.lost += 1;
            continue;
        }
        let (first, last) = (
            element.time("timeFirstTxPacket")?,
            element.time("timeLastRxPacket")?,
        );
        let exponent = |name| {
            element
                .word(name)
                .is_ok_and(|word| word.contains(['e', 'E']))
        };
        out.rounded |= exponent("timeFirstTxPacket") || exponent("timeLastRxPacket");
        let time = last.0.checked_sub(first.0).ok_or_else(|| {
            let message = format!("flow {id} ends before it begins");
            Fault::at(element.line, message, "the file is damaged: write it again")
        })?;
        let flow = Seen {
            bytes: element.number("txBytes")?,
            packets: element.number("txPackets")?,
            time: Picos(time),
        };
        if seen.insert(id, flow).is_some() {
            let message = format!("flow {id} is there twice");
            return Err(Fault::at(
                element.line,
                message,
                "name the file of one simulation",
            ));
        }
    }
    let bytes_of: BTreeMap<[&str; 5], u64> = ends
        .iter()
        .filter_map(|(id, ends)| Some((*ends, seen.get(id)?.bytes)))
        .collect();
    for (id, flow) in &seen {
        let back = ends.get(id).map(|&[a, b, c, d, e]| [c, d, a, b, e]);
        let other = back.and_then(|back| bytes_of.get(&back));
        match other.is_some_and(|&other| other > flow.bytes) {
            true => out.acks += 1,
            false => out.flows.push(*flow),
        }
    }
    Ok(out)
}

/// The elements `Flow`, wherever they are.
fn elements(text: &str) -> Fallible<Vec<Element<'_>>> {
    let mut all = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(at) = rest.find("<Flow ") {
        line += rest[..at].matches('\n').count();
        let from = &rest[at..];
        let end = from.find('>').ok_or_else(|| {
            let help = "the simulation did not end, or the file was cut off: write it again";
            Fault::at(line, "this element has no end", help)
        })?;
        let inside = &from["<Flow".len()..end];
        all.push(Element {
            line,
            words: attributes(inside.trim_end_matches('/'), line)?,
        });
        line += from[..end].matches('\n').count();
        rest = &from[end..];
    }
    Ok(all)
}

/// `name="value"` and so on.
fn attributes(text: &str, line: usize) -> Fallible<BTreeMap<&str, &str>> {
    let mut words = BTreeMap::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let pair = rest.split_once("=\"").and_then(|(name, after)| {
            let (value, after) = after.split_once('"')?;
            let name = name.trim();
            (!name.contains(char::is_whitespace)).then_some((name, value, after))
        });
        let Some((name, value, after)) = pair else {
            let message = format!("`{}` is no attribute", shown(rest));
            return Err(Fault::at(line, message, "an attribute is name=\"value\""));
        };
        words.insert(name, value);
        rest = after.trim_start();
    }
    Ok(words)
}

impl Element<'_> {
    fn word(&self, name: &str) -> Fallible<&str> {
        self.words.get(name).copied().ok_or_else(|| {
            let message = format!("this flow has no {name}");
            Fault::at(
                self.line,
                message,
                "FlowMonitor writes it: use the file as it is",
            )
        })
    }

    fn number(&self, name: &str) -> Fallible<u64> {
        let word = self.word(name)?;
        word.parse().map_err(|_| {
            let message = format!("{name} is `{}`", shown(word));
            Fault::at(self.line, message, "it is a whole number")
        })
    }

    /// `+2235764408.0ns`, or `+2e+09ns`, or in seconds.
    fn time(&self, name: &str) -> Fallible<Picos> {
        let word = self.word(name)?;
        let time = word.strip_prefix('+').unwrap_or(word);
        number::time(time).ok_or_else(|| {
            let message = format!("{name} is `{}`", shown(word));
            Fault::at(self.line, message, "it is a time: +2235764408.0ns")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "<?xml version=\"1.0\" ?>\n<FlowMonitor>\n  <FlowStats>\n\
        <Flow flowId=\"1\" timeFirstTxPacket=\"+0.0ns\" timeLastRxPacket=\"+2255831606.0ns\"\n \
        txBytes=\"2149400\" txPackets=\"3735\" rxPackets=\"3735\">\n</Flow>\n\
        <Flow flowId=\"2\" timeFirstTxPacket=\"+1.5e+03ns\" timeLastRxPacket=\"+2.0s\" \
        txBytes=\"100\" txPackets=\"2\" rxPackets=\"2\" />\n\
        <Flow flowId=\"3\" timeFirstTxPacket=\"+1ns\" timeLastRxPacket=\"+0ns\" txBytes=\"9\" \
        txPackets=\"1\" rxPackets=\"0\" />\n\
        </FlowStats>\n<Ipv4FlowClassifier>\n\
        <Flow flowId=\"1\" sourceAddress=\"10.1.3.1\" destinationAddress=\"10.1.2.2\" \
        protocol=\"6\" sourcePort=\"49153\" destinationPort=\"50000\" />\n\
        <Flow flowId=\"2\" sourceAddress=\"10.1.2.2\" destinationAddress=\"10.1.3.1\" \
        protocol=\"6\" sourcePort=\"50000\" destinationPort=\"49153\" />\n\
        </Ipv4FlowClassifier>\n<FlowProbes>\n<FlowProbe index=\"0\">\n\
        <FlowStats  flowId=\"1\" packets=\"3735\" bytes=\"2149400\" >\n</FlowStats>\n\
        </FlowProbe>\n</FlowProbes>\n</FlowMonitor>\n";

    #[test]
    fn flows_are_read_and_acknowledgements_are_told_apart() {
        let read = read(FILE).expect("a file");
        let flow = Seen {
            bytes: 2_149_400,
            packets: 3_735,
            time: Picos(2_255_831_606_000),
        };
        assert_eq!((read.flows, read.acks, read.lost), (vec![flow], 1, 1));
        assert!(read.rounded, "the second flow has an exponent");
    }

    #[test]
    fn mistakes_name_their_line_and_pieces_end_well() {
        for (from, to, line, message) in [
            ("\"2149400\" tx", "\"x\" tx", Some(4), "txBytes is `x`"),
            ("txBytes=\"100\"", "", Some(7), "no txBytes"),
            ("+0.0ns", "+5s", Some(4), "ends before"),
            ("flowId=\"2\" time", "flowId=\"1\" time", Some(7), "twice"),
            ("+2.0s", "later", Some(7), "timeLastRxPacket is `later`"),
            ("protocol=\"6\"", "protocol", Some(11), "no attribute"),
            ("<FlowMonitor>", "<Other>", None, "no file of FlowMonitor"),
        ] {
            let fault = read(&FILE.replacen(from, to, 1)).expect_err(message);
            assert_eq!(fault.line, line, "{fault:?}");
            assert!(fault.message.contains(message), "{fault:?}");
        }
        for end in 0..FILE.len() {
            let _ = read(&FILE[..end]);
        }
    }
}
