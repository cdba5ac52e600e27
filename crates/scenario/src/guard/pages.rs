// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pages of a column in a Parquet file: the header of each, in Thrift's compact form, says how
//! many values and bytes follow.

/// Beyond the values of a page: levels of definition, and the lengths of their runs.
const BESIDE: u64 = 64 << 10;

/// The bytes of a column in a group of rows, whose numbers have a fixed width.
pub(super) struct Chunk<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) rows: u64,
    pub(super) width: u64,
}

/// Fields of the header of a page.
#[derive(Default)]
struct Header {
    /// Bytes of the page once it is decompressed.
    unpacked: u64,
    /// Bytes of the page in the file.
    packed: u64,
    /// Values of a page of data, empty ones too.
    values: u64,
    /// Values of a dictionary.
    entries: u64,
}

impl Chunk<'_> {
    /// Whether its pages have its rows, and no page says that it is larger than they can be.
    pub(super) fn is_whole(&self) -> bool {
        self.values() == Some(self.rows)
    }

    /// The values of all pages; `None` where a length cannot be.
    fn values(&self) -> Option<u64> {
        let largest = self.rows.checked_mul(self.width + 4)?.checked_add(BESIDE)?;
        let mut cursor = Cursor(self.bytes);
        let mut values = 0_u64;
        while !cursor.0.is_empty() {
            let header = cursor.header()?;
            let dictionary = header.entries.checked_mul(self.width)?;
            if header.unpacked > largest || dictionary > header.unpacked {
                return None;
            }
            cursor.take(usize::try_from(header.packed).ok()?)?;
            values = values.checked_add(header.values)?;
        }
        Some(values)
    }
}

/// Structs inside of structs, as deep as a header has them, with room.
const DEEPEST: u32 = 8;

/// The bytes that are not read yet.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|b| b[0])
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// An integer that is not negative.
    fn length(&mut self) -> Option<u64> {
        let zigzag = self.varint()?;
        (zigzag & 1 == 0).then_some(zigzag >> 1)
    }

    /// The next field of a struct, as its number and its type; the type 0 ends the struct.
    fn field(&mut self, last: u64) -> Option<(u64, u8)> {
        let byte = self.byte()?;
        let (delta, kind) = (byte >> 4, byte & 0xf);
        match (delta, kind) {
            (_, 0) => Some((0, 0)),
            (0, _) => Some((self.length()?, kind)),
            _ => Some((last.checked_add(u64::from(delta))?, kind)),
        }
    }

    /// A page's header.
    fn header(&mut self) -> Option<Header> {
        let mut header = Header::default();
        let mut last = 0;
        loop {
            let (field, kind) = self.field(last)?;
            match (field, kind) {
                (_, 0) => return Some(header),
                (2, 5) => header.unpacked = self.length()?,
                (3, 5) => header.packed = self.length()?,
                // The first field of all three headers inside is the number of values.
                (5 | 8, 12) => header.values = self.first()?,
                (7, 12) => header.entries = self.first()?,
                (_, kind) => self.skip(kind, DEEPEST)?,
            }
            last = field;
        }
    }

    /// The first field of a struct, an integer; the others are skipped.
    fn first(&mut self) -> Option<u64> {
        let (mut last, mut value) = (0, 0);
        loop {
            let (field, kind) = self.field(last)?;
            match (field, kind) {
                (_, 0) => return Some(value),
                (1, 5) => value = self.length()?,
                (_, kind) => self.skip(kind, DEEPEST)?,
            }
            last = field;
        }
    }

    /// Skips a value of a type.
    fn skip(&mut self, kind: u8, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            1 | 2 => {}
            3 => drop(self.byte()?),
            4..=6 => drop(self.varint()?),
            7 => drop(self.take(8)?),
            8 => {
                let length = usize::try_from(self.varint()?).ok()?;
                self.take(length)?;
            }
            9 | 10 => {
                let byte = self.byte()?;
                let many = match byte >> 4 {
                    15 => self.varint()?,
                    few => u64::from(few),
                };
                // Each element takes a byte.
                if many > self.0.len() as u64 {
                    return None;
                }
                for _ in 0..many {
                    self.element(byte & 0xf, depth)?;
                }
            }
            12 => {
                let mut last = 0;
                loop {
                    let (field, kind) = self.field(last)?;
                    if kind == 0 {
                        break;
                    }
                    self.skip(kind, depth)?;
                    last = field;
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Skips an element of a list, where a truth value has a byte.
    fn element(&mut self, kind: u8, depth: u32) -> Option<()> {
        match kind {
            1 | 2 => self.byte().map(drop),
            kind => self.skip(kind, depth),
        }
    }
}
