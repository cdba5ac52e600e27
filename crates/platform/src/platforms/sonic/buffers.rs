// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ingress buffers: the queue length at which a port pauses its sender.
//!
//! A lossless priority group sends XOFF where it has used its reserved bytes and its share of the
//! pool: `static_th` bytes, or alpha times the free part of the pool, alpha = 2^`dynamic_th`. While
//! the group is alone its share is alpha / (1 + alpha) of the pool.

use super::tables::{Row, Tables, reference};
use crate::model::{Switch, Xoff};
use crate::text::ranges;

/// Exponents of alpha that SONiC has.
const EXPONENTS: std::ops::RangeInclusive<i32> = -8..=7;

pub(super) fn read(switch: &mut Switch, tables: &Tables) {
    for (key, row) in tables.rows("BUFFER_PG") {
        let Some((names, groups)) = key.split_once('|') else {
            continue;
        };
        let Some(profile) = row
            .text("profile")
            .and_then(|name| tables.row("BUFFER_PROFILE", reference(name)))
        else {
            continue;
        };
        let Some(xoff) = limit(tables, profile) else {
            continue;
        };
        for group in ranges::numbers(groups, 7).unwrap_or_default() {
            for name in ranges::names(names) {
                if let Some(port) = switch.ports.get_mut(&name) {
                    port.xoff.insert(group as u8, xoff.clone());
                }
            }
        }
    }
}

/// The largest XOFF threshold under a buffer profile.
fn limit(tables: &Tables, profile: &Row) -> Option<Xoff> {
    let count = |row: &Row, field: &str| row.text(field).and_then(|t| t.parse::<u64>().ok());
    let reserved = count(profile, "size").unwrap_or(0);
    if let Some((text, place)) = profile.field("static_th") {
        let bytes = text.parse::<u64>().ok()?.checked_add(reserved)?;
        return Some(Xoff {
            bytes,
            how: format!("`static_th` is {text}"),
            place,
        });
    }
    let (text, place) = profile.field("dynamic_th")?;
    let exponent = text.parse().ok().filter(|e| EXPONENTS.contains(e))?;
    let pool = tables.row("BUFFER_POOL", reference(profile.text("pool")?))?;
    let pool = count(pool, "size")?;
    let alpha = 2_f64.powi(exponent);
    let share = (pool as f64 * alpha / (1.0 + alpha)) as u64;
    Some(Xoff {
        bytes: share.saturating_add(reserved),
        how: format!("`dynamic_th` is {text} and the pool has {pool} B, one port congested"),
        place,
    })
}
