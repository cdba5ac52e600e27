// SPDX-License-Identifier: MIT OR Apache-2.0
//! A guard around Parquet. A file says how many rows and bytes it has, and the `parquet` crate
//! takes memory by what is said; so counts, ranges and lengths of pages are compared with each
//! other and with the file before a value is read, and a panic of the crate is an error.

mod pages;

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use bytes::Bytes;
use parquet::basic::Type as Physical;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::{FileReader, SerializedFileReader};

use self::pages::Chunk;

/// Opens a file of at most `most` rows.
///
/// # Errors
/// The damage of the file, in words.
pub fn open(content: Bytes, most: u64) -> Result<SerializedFileReader<Bytes>, String> {
    let file = caught(|| SerializedFileReader::new(content.clone()).map_err(why))?;
    let metadata = file.metadata();
    let rows = count(metadata.file_metadata().num_rows())?;
    if rows > most {
        return Err(format!(
            "it has {rows} rows, and {most} are the most that are read"
        ));
    }
    let groups = metadata.row_groups().iter();
    let in_groups = groups
        .map(|group| count(group.num_rows()))
        .try_fold(0_u64, |sum, n| n?.checked_add(sum).ok_or_else(damaged))?;
    if rows != in_groups {
        return Err(format!(
            "it is damaged: it says that it has {rows} rows, and its parts have {in_groups}"
        ));
    }
    metadata
        .row_groups()
        .iter()
        .try_for_each(|group| check(group, &content))?;
    Ok(file)
}

/// Runs a reader of a Parquet file; a panic inside the reader is an error.
///
/// # Errors
/// Errors of the reader.
pub fn caught<T>(read: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    thread_local! {
        static INSIDE: Cell<bool> = const { Cell::new(false) };
    }
    static HOOK: Once = Once::new();
    // A panic that becomes an error is not printed as well.
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !INSIDE.get() {
                usual(info);
            }
        }));
    });
    INSIDE.set(true);
    let answer = panic::catch_unwind(AssertUnwindSafe(read));
    INSIDE.set(false);
    answer.unwrap_or_else(|_| Err(damaged()))
}

/// An error of the Parquet crate in words, with the way out.
pub fn why(error: ParquetError) -> String {
    match error.to_string() {
        text if text.contains("Disabled feature") || text.contains("NYI") => {
            format!("{text}; write it without compression or with snappy")
        }
        text => text,
    }
}

fn damaged() -> String {
    "it is damaged".to_owned()
}

fn count(said: i64) -> Result<u64, String> {
    u64::try_from(said).map_err(|_| damaged())
}

/// Compares what a group of rows says of its columns with the file.
fn check(group: &RowGroupMetaData, content: &[u8]) -> Result<(), String> {
    let rows = count(group.num_rows())?;
    for column in group.columns() {
        let name = column.column_path().string();
        let bytes = chunk(column, content)
            .ok_or_else(|| format!("it is damaged: the column `{name}` is outside of the file"))?;
        let described = column.column_descr();
        let flat = described.max_rep_level() == 0 && described.max_def_level() <= 1;
        let Some(width) = width(described.physical_type()).filter(|_| flat) else {
            continue;
        };
        let whole = Chunk { bytes, rows, width }.is_whole();
        if !whole || column.num_values() != group.num_rows() {
            return Err(format!(
                "it is damaged: the pages of the column `{name}` do not have its {rows} rows"
            ));
        }
    }
    Ok(())
}

/// Bytes of a number; `None` for what has no fixed length.
fn width(physical: Physical) -> Option<u64> {
    match physical {
        Physical::INT32 | Physical::FLOAT => Some(4),
        Physical::INT64 | Physical::DOUBLE => Some(8),
        _ => None,
    }
}

/// The bytes of a column in a group.
fn chunk<'a>(column: &ColumnChunkMetaData, content: &'a [u8]) -> Option<&'a [u8]> {
    let start = column.dictionary_page_offset();
    let start = usize::try_from(start.unwrap_or(column.data_page_offset())).ok()?;
    let length = usize::try_from(column.compressed_size()).ok()?;
    content.get(start..start.checked_add(length)?)
}

#[cfg(test)]
mod tests {
    use super::caught;

    #[test]
    fn a_panic_is_an_error() {
        let none: Vec<u8> = Vec::new();
        assert_eq!(caught(|| Ok(none[none.len()])), Err("it is damaged".into()));
        assert_eq!(caught(|| Ok(1)), Ok(1));
    }
}
