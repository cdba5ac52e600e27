// SPDX-License-Identifier: MIT OR Apache-2.0
//! The work that the ranges of a file ask for: a short file may name every queue of every port of
//! thousands of ranges.

use cemark_formats::{Fallible, Fault};

use super::json::{Json, Value};
use super::ranges;

/// Most members of all ranges of a file: a switch with 512 ports and 8 queues has 4,096.
const MOST: u64 = 1 << 21;

/// Refuses a JSON document whose ranges have more members than a switch.
pub(crate) fn of_json(json: &Json) -> Fallible<()> {
    within(below(json))
}

/// Refuses lines whose ranges have more members than a switch. Lists of a command of NVUE multiply;
/// the lines behind a range of interfaces are of each of them.
pub(crate) fn of_lines(text: &str) -> Fallible<()> {
    let (mut interfaces, mut all) = (1, 0_u64);
    for line in text.lines().map(str::trim) {
        let words = line
            .split_whitespace()
            .take_while(|word| *word != "description");
        let members = words.map(ranges::members);
        let own = match line.starts_with("nv ") {
            true => members.fold(1, u64::saturating_mul),
            false => members.max().unwrap_or(0),
        };
        let of_each = match line.starts_with("interface ") {
            true => {
                interfaces = own;
                1
            }
            false => interfaces,
        };
        all = all.saturating_add(own.saturating_mul(of_each));
    }
    within(all)
}

/// Members below a value: those of a name times those below it.
fn below(json: &Json) -> u64 {
    match &json.value {
        Value::Table(members) => members.iter().fold(0, |sum: u64, member| {
            let parts = member.name.split('|');
            let own = parts.fold(1, |product: u64, part| {
                product.saturating_mul(ranges::members(part))
            });
            sum.saturating_add(own.saturating_mul(below(&member.json).max(1)))
        }),
        Value::List(elements) => elements
            .iter()
            .fold(0, |sum, e| below(e).saturating_add(sum)),
        Value::Text(text) => ranges::members(text),
        _ => 1,
    }
}

fn within(members: u64) -> Fallible<()> {
    match members <= MOST {
        true => Ok(()),
        false => Err(Fault::whole(
            format!("the ranges of the file name more than {MOST} ports and queues: too many"),
            "name the configuration of one switch",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::{of_json, of_lines};
    use crate::text::json::Json;

    #[test]
    fn ranges_multiply_along_a_line_and_down_a_document() {
        let line = "nv set interface swp1-64 qos traffic-class 0-7\n";
        assert!(of_lines(&line.repeat(1_000)).is_ok());
        assert!(of_lines(&line.repeat(10_000)).is_err());
        let text = "nv set interface swp1-64 description racks 1-200 to 1-200\n";
        assert!(of_lines(&text.repeat(100)).is_ok());
        let block = "interface Ethernet1-4000\n";
        assert!(of_lines(&format!("{block}{}", "  a\n".repeat(500))).is_ok());
        assert!(of_lines(&format!("{block}{}", "  a\n".repeat(1_000))).is_err());
        let json = |text: &str| of_json(&Json::read(text).expect("JSON"));
        assert!(json("{\"QUEUE\": {\"Ethernet0-511|0-7\": {\"a\": \"b\"}}}").is_ok());
        let row = "\"Ethernet0-4000|0-63\": {\"a\": \"b\"}";
        let rows: Vec<&str> = std::iter::repeat_n(row, 9).collect();
        assert!(json(&format!("{{\"QUEUE\": {{{}}}}}", rows.join(","))).is_err());
    }
}
