// SPDX-License-Identifier: MIT OR Apache-2.0
//! A list of flows in Parquet, with the columns that a file of comma-separated values has. Columns
//! are numbers, whose unit their name ends in.

use bytes::Bytes;
use cemark_sim::workload::FlowLine;
use parquet::basic::Type as Physical;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::{NAMES, columns, line};

/// How such a file begins.
pub(super) const MAGIC: &[u8] = b"PAR1";

/// A column; nothing where a cell is empty.
enum Numbers {
    Whole(Vec<Option<i64>>),
    Real(Vec<Option<f64>>),
}

impl Numbers {
    fn text(&self, row: usize) -> Option<String> {
        match self {
            Numbers::Whole(values) => values[row].map(|v| v.to_string()),
            Numbers::Real(values) => values[row].map(|v| v.to_string()),
        }
    }
}

/// Reads the flows. A mistake is described with its row, counted from one.
pub(super) fn read(content: &[u8], hosts: u32, queues: usize) -> Result<Vec<FlowLine>, String> {
    let file = SerializedFileReader::new(Bytes::copy_from_slice(content)).map_err(why)?;
    let schema = file.metadata().file_metadata().schema_descr_ptr();
    let names: Vec<String> = schema.columns().iter().map(|c| c.path().string()).collect();
    let places = columns(names.iter().map(String::as_str))?;
    let mut numbers = Vec::with_capacity(NAMES.len());
    for place in &places {
        numbers.push(match place {
            None => None,
            Some((at, _)) => Some(column(&file, *at, &names[*at])?),
        });
    }
    let rows = usize::try_from(file.metadata().file_metadata().num_rows()).unwrap_or(0);
    if rows == 0 {
        return Err("it has no flows".to_owned());
    }
    let mut lines = Vec::with_capacity(rows);
    for row in 0..rows {
        let cell = |n: usize| {
            let text = numbers[n].as_ref()?.text(row)?;
            let unit = places[n].as_ref().map_or("", |(_, unit)| unit.as_str());
            Some((text.into(), unit))
        };
        let line = line(&cell, hosts, queues);
        lines.push(line.map_err(|why| format!("row {}: {why}", row + 1))?);
    }
    Ok(lines)
}

fn why(error: ParquetError) -> String {
    match error.to_string() {
        text if text.contains("Disabled feature") || text.contains("NYI") => {
            format!("{text}; write it without compression or with snappy")
        }
        text => text,
    }
}

fn column(file: &SerializedFileReader<Bytes>, at: usize, name: &str) -> Result<Numbers, String> {
    let schema = file.metadata().file_metadata().schema_descr_ptr();
    let described = schema.column(at);
    if described.max_rep_level() > 0 || described.max_def_level() > 1 {
        return Err(format!(
            "the column `{name}` has lists; it must have numbers"
        ));
    }
    let (mut whole, mut real) = (Vec::new(), Vec::new());
    for group in 0..file.num_row_groups() {
        let group = file.get_row_group(group).map_err(why)?;
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        match group.get_column_reader(at).map_err(why)? {
            ColumnReader::Int32ColumnReader(reader) => {
                whole.extend(cells(reader, rows)?.into_iter().map(|v| v.map(i64::from)));
            }
            ColumnReader::Int64ColumnReader(reader) => whole.extend(cells(reader, rows)?),
            ColumnReader::DoubleColumnReader(reader) => real.extend(cells(reader, rows)?),
            _ => {
                return Err(format!(
                    "the column `{name}` has values of the type {}; it must have integers or \
                     doubles, with a unit in its name as in `at_us`",
                    described.physical_type()
                ));
            }
        }
    }
    Ok(match described.physical_type() {
        Physical::DOUBLE => Numbers::Real(real),
        _ => Numbers::Whole(whole),
    })
}

/// The cells of a column in a group of rows.
fn cells<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
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
