// SPDX-License-Identifier: MIT OR Apache-2.0
//! The scheme of a switch and its parameters for tables.

use cemark_param::Dialect;
use cemark_sim::config::{MarkerChoice, SwitchConfig};

/// Which schemes a switch runs, and with what: (`ECN#`, [(`ins_target`, `200us`) …]). Where queues
/// have profiles the scheme of each queue in use is named by its traffic class.
pub fn of_switch(switch: &SwitchConfig) -> (String, Vec<(String, String)>) {
    if !switch.has_profiles() {
        let (title, params) = of_marker(&switch.marker);
        let named = params
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value));
        return (title, named.collect());
    }
    let (mut titles, mut params) = (Vec::new(), Vec::new());
    let mut queues: Vec<u8> = switch.classes.iter().map(|class| class.queue).collect();
    queues.dedup();
    for queue in queues {
        let name = switch.queue_name(queue);
        let (title, own) = of_marker(switch.marker_of(queue.into()));
        titles.push(format!("{name}: {title}"));
        params.extend(
            own.into_iter()
                .map(|(key, value)| (format!("{name} {key}"), value)),
        );
    }
    (titles.join("; "), params)
}

/// A scheme and its parameters.
fn of_marker(marker: &MarkerChoice) -> (String, Vec<(&'static str, String)>) {
    let Some((scheme, values)) = marker.declared() else {
        let title = match marker {
            MarkerChoice::None => "drop-tail, no marking",
            _ => "custom",
        };
        return (title.to_owned(), Vec::new());
    };
    let params = scheme.params.iter().zip(values.0);
    let shown = params.map(|(p, n)| (p.name, p.show(n, Dialect::Table).to_string()));
    (scheme.title.to_owned(), shown.collect())
}
