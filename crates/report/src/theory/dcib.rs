// SPDX-License-Identifier: MIT OR Apache-2.0
//! Need and gain of DCIB's selective dropping (DCIB sections III and IV).

use super::bdp;

/// The share of packets whose clones a buffer of stalled clones can hold: `r = B / (tau C)`.
pub fn share(buffer: f64, rate: f64, rtt: f64) -> f64 {
    buffer / bdp(rate, rtt)
}

/// The buffer in bytes that a share needs: `B = r tau C`.
pub fn buffer(share: f64, rate: f64, rtt: f64) -> f64 {
    share * bdp(rate, rtt)
}

/// The rate of plain TCP under random loss, `mtu / tau sqrt(3 / (2 p))`.
pub fn tcp_rate(mtu: f64, rtt: f64, loss: f64) -> f64 {
    mtu * 8.0 / rtt * (1.5 / loss).sqrt()
}

/// The largest factor by which recovering a share of the losses can raise that rate:
/// `1 / sqrt(1 - r)`.
pub fn largest_gain(share: f64) -> f64 {
    1.0 / (1.0 - share).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// DCIB section III: 16 and 8 % for 2 MB at 10 and 20 ms and 10 Gb/s; and back.
    #[test]
    fn shares_and_buffers() {
        assert_eq!(share(2e6, 1e10, 10e-3), 0.16);
        assert_eq!(share(2e6, 1e10, 20e-3), 0.08);
        assert!((buffer(0.1, 1e10, 6e-3) - 0.75e6).abs() < 1e-6);
        // The same gain is what the rates say.
        let (plain, better) = (tcp_rate(1500.0, 0.01, 0.05), tcp_rate(1500.0, 0.01, 0.045));
        assert!((better / plain - largest_gain(0.1)).abs() < 1e-12);
    }
}
