// SPDX-License-Identifier: MIT OR Apache-2.0
//! A list of flows in Parquet, with the columns that a file of comma-separated values has. Columns
//! are numbers, whose unit their name ends in.

use bytes::Bytes;
use parquet::basic::Type as Physical;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::{Found, MOST, columns};
use crate::guard::{self, why};

/// How such a file begins.
pub(super) const MAGIC: &[u8] = b"PAR1";

/// Rows that are read at a time.
const BATCH: usize = 1 << 16;

/// Some cells of a column; nothing where one is empty.
enum Cells {
    Whole(Vec<Option<i64>>),
    Real(Vec<Option<f64>>),
}

impl Cells {
    fn text(&self, row: usize) -> Option<String> {
        match self {
            Cells::Whole(values) => values[row].map(|v| v.to_string()),
            Cells::Real(values) => values[row].map(|v| v.to_string()),
        }
    }
}

/// Reads the flows. A mistake is described with its row, counted from one.
pub(super) fn read(content: &[u8], hosts: u32, queues: usize) -> Result<Found, String> {
    let file = guard::open(Bytes::copy_from_slice(content), MOST as u64)?;
    guard::caught(|| flows(&file, hosts, queues))
}

fn flows(file: &SerializedFileReader<Bytes>, hosts: u32, queues: usize) -> Result<Found, String> {
    let schema = file.metadata().file_metadata().schema_descr_ptr();
    let names: Vec<String> = schema.columns().iter().map(|c| c.path().string()).collect();
    let places = columns(names.iter().map(String::as_str))?;
    for (at, _) in places.iter().flatten() {
        let described = schema.column(*at);
        if described.max_rep_level() > 0 || described.max_def_level() > 1 {
            let name = &names[*at];
            return Err(format!(
                "the column `{name}` has lists; it must have numbers"
            ));
        }
    }
    // The guard has compared this number with the rows that are there.
    let rows = usize::try_from(file.metadata().file_metadata().num_rows()).unwrap_or(0);
    if rows == 0 {
        return Err("it has no flows".to_owned());
    }
    let mut found = Found::default();
    found.lines.reserve(rows);
    for group in 0..file.num_row_groups() {
        let group = file.get_row_group(group).map_err(why)?;
        let mut readers = Vec::with_capacity(places.len());
        for place in &places {
            readers.push(match place {
                None => None,
                Some((at, _)) => Some(group.get_column_reader(*at).map_err(why)?),
            });
        }
        let mut left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        while left > 0 {
            let batch = left.min(BATCH);
            let mut cells = Vec::with_capacity(places.len());
            for (reader, place) in readers.iter_mut().zip(&places) {
                let name = place.as_ref().map_or("", |(at, _)| names[*at].as_str());
                let reader = reader.as_mut();
                cells.push(reader.map(|r| some(r, batch, name)).transpose()?);
            }
            for row in 0..batch {
                let cell = |n: usize| {
                    let text = cells[n].as_ref()?.text(row)?;
                    let unit = places[n].as_ref().map_or("", |(_, unit)| unit.as_str());
                    Some((text.into(), unit))
                };
                let added = found.add(&cell, hosts, queues);
                added.map_err(|why| format!("row {}: {why}", found.lines.len() + 1))?;
            }
            left -= batch;
        }
    }
    Ok(found)
}

/// The next cells of a column.
fn some(reader: &mut ColumnReader, rows: usize, name: &str) -> Result<Cells, String> {
    let is = match reader {
        ColumnReader::Int32ColumnReader(reader) => {
            let cells = cells(reader, rows)?.into_iter();
            return Ok(Cells::Whole(cells.map(|v| v.map(i64::from)).collect()));
        }
        ColumnReader::Int64ColumnReader(reader) => return cells(reader, rows).map(Cells::Whole),
        ColumnReader::DoubleColumnReader(reader) => return cells(reader, rows).map(Cells::Real),
        ColumnReader::BoolColumnReader(_) => Physical::BOOLEAN,
        ColumnReader::Int96ColumnReader(_) => Physical::INT96,
        ColumnReader::FloatColumnReader(_) => Physical::FLOAT,
        ColumnReader::ByteArrayColumnReader(_) => Physical::BYTE_ARRAY,
        ColumnReader::FixedLenByteArrayColumnReader(_) => Physical::FIXED_LEN_BYTE_ARRAY,
    };
    Err(format!(
        "the column `{name}` has values of the type {is}; it must have integers or doubles, with a \
         unit in its name as in `at_us`"
    ))
}

/// The next cells of a column in a group of rows.
fn cells<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
) -> Result<Vec<Option<T::T>>, String> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    while levels.len().max(values.len()) < rows {
        let left = rows - levels.len().max(values.len());
        let (read, _, _) = reader
            .read_records(left, Some(&mut levels), None, &mut values)
            .map_err(why)?;
        if read == 0 {
            return Err("it ends too early".to_owned());
        }
    }
    // A column that may not be empty has no levels.
    if levels.is_empty() {
        return Ok(values.into_iter().map(Some).collect());
    }
    let mut values = values.into_iter();
    Ok(levels
        .into_iter()
        .map(|level| if level == 0 { None } else { values.next() })
        .collect())
}
