// SPDX-License-Identifier: MIT OR Apache-2.0
//! The scheme of a switch and its parameters for tables.

use cemark_param::Dialect;
use cemark_sim::config::MarkerChoice;

/// Which scheme a switch runs, and with what: (`ECN#`, [(`ins_target`, `200us`) …]).
pub fn of_marker(marker: &MarkerChoice) -> (String, Vec<(&'static str, String)>) {
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
