// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists and ranges of numbers and ports: `3-4`, `1,3`, `swp1-4,swp6`.

/// Most members of a list: a range of a hostile file must not fill the memory.
const MOST: usize = 4_096;

/// Largest number of a list of queues, classes or DSCPs: ranges of VLANs are not expanded.
const LARGEST: u64 = 255;

/// Whole numbers of at most `largest`; `None` where the text is no such list.
pub(crate) fn numbers(text: &str, largest: u64) -> Option<Vec<u64>> {
    let mut all = Vec::new();
    for part in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if first > last || last > largest || all.len() as u64 + (last - first) >= MOST as u64 {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all)
}

/// Names of a list whose ranges are over the number at the end of a name. A name that is no range
/// is taken as it is.
pub(crate) fn names(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for part in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        match range(part) {
            Some((stem, first, last)) if last - first < MOST as u64 => {
                all.extend((first..=last).map(|n| format!("{stem}{n}")));
            }
            _ => all.push(part.to_owned()),
        }
        if all.len() > MOST {
            all.truncate(MOST);
            break;
        }
    }
    all
}

/// Members of a list of names or numbers; of a range that no reader expands, one.
pub(crate) fn members(text: &str) -> u64 {
    let of = |part: &str| match range(part) {
        Some((stem, first, last))
            if last - first < MOST as u64 && (last <= LARGEST || !stem.is_empty()) =>
        {
            last - first + 1
        }
        _ => 1,
    };
    text.split(',').map(|part| of(part.trim())).sum()
}

/// `swp1-4` as its stem and its ends.
fn range(part: &str) -> Option<(&str, u64, u64)> {
    let (begin, last) = part.rsplit_once('-')?;
    let digits = begin.len() - begin.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (stem, first) = begin.split_at(begin.len() - digits);
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last).then_some((stem, first, last))
}

#[cfg(test)]
mod tests {
    use super::{names, numbers};

    #[test]
    fn lists_and_ranges() {
        assert_eq!(numbers("3-4", 7), Some(vec![3, 4]));
        assert_eq!(numbers("0,2-3,7", 7), Some(vec![0, 2, 3, 7]));
        assert_eq!(numbers("", 7), Some(vec![]));
        for bad in ["8", "4-3", "a", "1-", "-1", "0-18446744073709551615"] {
            assert_eq!(numbers(bad, 7), None, "{bad}");
        }
        assert_eq!(numbers("0-18446744073709551615", u64::MAX), None);
        assert_eq!(names("swp1-3,swp6"), ["swp1", "swp2", "swp3", "swp6"]);
        assert_eq!(names("Ethernet1/1-2"), ["Ethernet1/1", "Ethernet1/2"]);
        assert_eq!(names("Port-Channel1"), ["Port-Channel1"]);
        assert_eq!(names("swp1-99999999999"), ["swp1-99999999999"]);
    }
}
