// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that are cut off, mixed up or of random bytes are read or refused, without a panic.

use cemark_formats::{Kind, flowmonitor, hpcc, htsim};
use proptest::prelude::*;

const FILES: [&str; 5] = [
    "7 3 6\n4 5 6\n0 4 10Gbps 1us 0\n1 4 10Gbps 1us 0\n2 5 10Gbps 1us 0\n3 5 10Gbps 1us 0\n\
     4 6 40Gbps 0.002ms 0\n5 6 40Gbps 2000ns 0.0\n",
    "2\n2 1 3 100 200000000 2\n3 1 3 100 5 2.000000533\n",
    "CC_MODE 1\nKMAX_MAP 1 25000000000 400\nKMIN_MAP 1 25000000000 100\n\
     PMAX_MAP 1 25000000000 0.2\nBUFFER_SIZE 32\nRATE_AI 50Mb/s\nEWMA_GAIN 0.00390625\n",
    "Nodes 24\nTiers 3\nPodsize 8\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 4\nRadix_Up 3\n\
     Downlink_Latency_ns 1000\nSwitch_Latency_ns 200\nTier 1\nDownlink_speed_Gbps 200\n\
     Radix_Down 2\nRadix_Up 5\nDownlink_Latency_ns 1000\nBundle 1\nTier 2\n\
     Downlink_speed_Gbps 400\nRadix_Down 3\nDownlink_Latency_ns 7000\n",
    "Nodes 16\nConnections 2\n0->15 id 1 start 0 size 2000000\n3->4 start 1.5e6 size 7 prio 2\n",
];

/// Every reader, whatever the file claims to be; whether one of them accepted it.
fn read(text: &str) -> bool {
    let kind = Kind::of(text);
    let others = [
        hpcc::topology(text).is_ok(),
        hpcc::flows(text).is_ok(),
        hpcc::Config::read(text).is_ok(),
        htsim::topo(text).is_ok(),
        htsim::matrix(text).is_ok(),
        hpcc::read_fct(text).is_ok(),
        flowmonitor::read(text).is_ok(),
    ];
    kind.is_ok() && others.contains(&true)
}

#[test]
fn whole_files_are_read_and_every_piece_of_them_ends_well() {
    for file in FILES {
        assert!(read(file), "{file}");
        for end in 0..file.len() {
            read(&file[..end]);
            read(&file[end..]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn random_changes_end_well(
        file in 0..FILES.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
    ) {
        let mut bytes = FILES[file].as_bytes().to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            // Digits, spaces and line ends reach further into a reader than other bytes.
            bytes[at] = match byte {
                0..=99 => b'0' + byte % 10,
                100..=149 => b" \n.e-+#->"[usize::from(byte) % 9],
                other => other,
            };
        }
        read(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn random_words_end_well(text in "([0-9a-zA-Z_.>-]{0,12}[ \n]){0,60}") {
        read(&text);
    }

    #[test]
    fn random_numbers_end_well(text in "([0-9]{1,21} ){1,4}\n([0-9]{1,3}[ \n]){0,40}") {
        read(&text);
    }
}
