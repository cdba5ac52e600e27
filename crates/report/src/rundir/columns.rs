// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parquet without Arrow: a table is a list of named columns, encoded into memory (so that writing
//! to disk, and what can fail there, is in one place) and read back by name.

use std::sync::Arc;

use bytes::Bytes;
use cemark_scenario::guard;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::ColumnReader;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

/// Column of a table. Unsigned integers keep their bits and are annotated as unsigned.
#[derive(Clone, Debug)]
pub enum Column {
    /// Integers of 32 bits.
    U32(Vec<u32>),
    /// Integers of 64 bits.
    U64(Vec<u64>),
    /// Numbers.
    F64(Vec<f64>),
    /// Integers, or nothing.
    MaybeU64(Vec<Option<u64>>),
    /// Numbers, or nothing.
    MaybeF64(Vec<Option<f64>>),
    /// Texts.
    Text(Vec<String>),
    /// Text that is equal in all rows, and their number.
    Constant(String, usize),
}

macro_rules! of_values {
    ($($variant:ident of $value:ty),*) => {$(
        impl From<Vec<$value>> for Column {
            fn from(values: Vec<$value>) -> Self {
                Column::$variant(values)
            }
        }
    )*};
}

of_values!(U32 of u32, U64 of u64, F64 of f64, MaybeU64 of Option<u64>, MaybeF64 of Option<f64>,
    Text of String);

impl Column {
    /// The values with every digit; nothing is an empty text.
    pub(crate) fn texts(&self) -> Vec<String> {
        fn each<T: ToString>(values: &[T]) -> Vec<String> {
            values.iter().map(T::to_string).collect()
        }
        fn maybe<T: ToString>(values: &[Option<T>]) -> Vec<String> {
            let text = |value: &Option<T>| value.as_ref().map_or(String::new(), T::to_string);
            values.iter().map(text).collect()
        }
        match self {
            Column::U32(v) => each(v),
            Column::U64(v) => each(v),
            Column::F64(v) => each(v),
            Column::MaybeU64(v) => maybe(v),
            Column::MaybeF64(v) => maybe(v),
            Column::Text(v) => v.clone(),
            Column::Constant(text, rows) => vec![text.clone(); *rows],
        }
    }

    fn schema(&self, name: &str) -> Result<Type, ParquetError> {
        let unsigned = |bit_width| Some(LogicalType::integer(bit_width, false));
        let (physical, repetition, logical) = match self {
            Column::U32(_) => (Physical::INT32, Repetition::REQUIRED, unsigned(32)),
            Column::U64(_) => (Physical::INT64, Repetition::REQUIRED, unsigned(64)),
            Column::MaybeU64(_) => (Physical::INT64, Repetition::OPTIONAL, unsigned(64)),
            Column::F64(_) => (Physical::DOUBLE, Repetition::REQUIRED, None),
            Column::MaybeF64(_) => (Physical::DOUBLE, Repetition::OPTIONAL, None),
            Column::Text(_) | Column::Constant(..) => (
                Physical::BYTE_ARRAY,
                Repetition::REQUIRED,
                Some(LogicalType::String),
            ),
        };
        Type::primitive_type_builder(name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .build()
    }

    fn write(&self, writer: &mut ColumnWriter<'_>) -> Result<(), ParquetError> {
        fn split<T: Copy, U>(values: &[Option<T>], to: fn(T) -> U) -> (Vec<U>, Vec<i16>) {
            (
                values.iter().filter_map(|v| v.map(to)).collect(),
                values.iter().map(|v| i16::from(v.is_some())).collect(),
            )
        }
        match (self, writer) {
            (Column::U32(v), ColumnWriter::Int32ColumnWriter(w)) => {
                w.write_batch(&v.iter().map(|x| *x as i32).collect::<Vec<_>>(), None, None)?;
            }
            (Column::U64(v), ColumnWriter::Int64ColumnWriter(w)) => {
                w.write_batch(&v.iter().map(|x| *x as i64).collect::<Vec<_>>(), None, None)?;
            }
            (Column::MaybeU64(v), ColumnWriter::Int64ColumnWriter(w)) => {
                let (values, levels) = split(v, |x| x as i64);
                w.write_batch(&values, Some(&levels), None)?;
            }
            (Column::F64(v), ColumnWriter::DoubleColumnWriter(w)) => {
                w.write_batch(v, None, None)?;
            }
            (Column::MaybeF64(v), ColumnWriter::DoubleColumnWriter(w)) => {
                let (values, levels) = split(v, |x| x);
                w.write_batch(&values, Some(&levels), None)?;
            }
            (Column::Text(v), ColumnWriter::ByteArrayColumnWriter(w)) => {
                w.write_batch(
                    &v.iter()
                        .map(|s| ByteArray::from(s.as_str()))
                        .collect::<Vec<_>>(),
                    None,
                    None,
                )?;
            }
            (Column::Constant(text, rows), ColumnWriter::ByteArrayColumnWriter(w)) => {
                w.write_batch(&vec![ByteArray::from(text.as_str()); *rows], None, None)?;
            }
            _ => unreachable!("the schema was made from this column"),
        }
        Ok(())
    }
}

/// Rows of the largest file that is read back.
const MOST_ROWS: u64 = 1 << 30;

/// Named columns of equal length.
#[derive(Clone, Debug, Default)]
pub struct Table(pub Vec<(String, Column)>);

impl Table {
    pub(crate) fn push(&mut self, name: &str, column: Column) {
        self.0.push((name.to_owned(), column));
    }

    /// Adds a column with a value of each row.
    pub(crate) fn add<R, V>(
        &mut self,
        name: &str,
        rows: impl IntoIterator<Item = R>,
        of: impl FnMut(R) -> V,
    ) where
        Column: From<Vec<V>>,
    {
        self.push(name, rows.into_iter().map(of).collect::<Vec<V>>().into());
    }
}

/// Encodes tables of the same columns, each as one row group. No tables, no file.
pub(crate) fn encode(
    groups: impl IntoIterator<Item = Table>,
    metadata: &[(&str, String)],
) -> Result<Option<Vec<u8>>, ParquetError> {
    let mut groups = groups.into_iter().peekable();
    let Some(first) = groups.peek() else {
        return Ok(None);
    };
    let fields = first
        .0
        .iter()
        .map(|(name, c)| c.schema(name).map(Arc::new))
        .collect::<Result<Vec<_>, _>>()?;
    let schema = Arc::new(
        Type::group_type_builder("schema")
            .with_fields(fields)
            .build()?,
    );
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("cemark ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(
            metadata
                .iter()
                .map(|(k, v)| KeyValue::new((*k).to_owned(), v.clone()))
                .collect(),
        ))
        .build();
    let mut out = Vec::new();
    let mut file = SerializedFileWriter::new(&mut out, schema, Arc::new(properties))?;
    for table in groups {
        let mut group = file.next_row_group()?;
        for (_, column) in &table.0 {
            let mut writer = group
                .next_column()?
                .expect("as many columns as the schema has");
            column.write(writer.untyped())?;
            writer.close()?;
        }
        group.close()?;
    }
    file.close()?;
    Ok(Some(out))
}

/// A file read back by column name; every answer is `None` where the file is not what it should be.
pub(crate) struct Reader(SerializedFileReader<Bytes>);

impl Reader {
    pub(crate) fn new(bytes: Vec<u8>) -> Option<Self> {
        guard::open(Bytes::from(bytes), MOST_ROWS).ok().map(Reader)
    }

    pub(crate) fn metadata(&self, key: &str) -> Option<&str> {
        let entries = self.0.metadata().file_metadata().key_value_metadata()?;
        entries.iter().find(|e| e.key == key)?.value.as_deref()
    }

    /// Raw values and definition levels of a column, all row groups.
    fn column<T>(
        &self,
        name: &str,
        mut read: impl FnMut(ColumnReader, usize, &mut Vec<i16>, &mut Vec<T>) -> Option<()>,
    ) -> Option<(Vec<i16>, Vec<T>)> {
        let schema = self.0.metadata().file_metadata().schema_descr();
        let at = schema.columns().iter().position(|c| c.name() == name)?;
        let (mut levels, mut values) = (Vec::new(), Vec::new());
        let whole = guard::caught(|| {
            let read = (0..self.0.num_row_groups()).try_for_each(|i| {
                let group = self.0.get_row_group(i).ok()?;
                let rows = group.metadata().num_rows() as usize;
                let column = group.get_column_reader(at).ok()?;
                read(column, rows, &mut levels, &mut values)
            });
            Ok(read)
        });
        whole.ok()??;
        Some((levels, values))
    }

    fn i64s(&self, name: &str) -> Option<(Vec<i16>, Vec<i64>)> {
        self.column(name, |reader, rows, levels, values| {
            let ColumnReader::Int64ColumnReader(mut r) = reader else {
                return None;
            };
            (r.read_records(rows, Some(levels), None, values).ok()?.0 == rows).then_some(())
        })
    }

    pub(crate) fn u64s(&self, name: &str) -> Option<Vec<u64>> {
        Some(self.i64s(name)?.1.into_iter().map(|x| x as u64).collect())
    }

    pub(crate) fn maybe_u64s(&self, name: &str) -> Option<Vec<Option<u64>>> {
        let (levels, values) = self.i64s(name)?;
        let mut values = values.into_iter();
        levels
            .into_iter()
            .map(|l| {
                if l == 0 {
                    Some(None)
                } else {
                    values.next().map(|v| Some(v as u64))
                }
            })
            .collect()
    }

    pub(crate) fn u32s(&self, name: &str) -> Option<Vec<u32>> {
        let (_, values) = self.column(name, |reader, rows, levels, values: &mut Vec<i32>| {
            let ColumnReader::Int32ColumnReader(mut r) = reader else {
                return None;
            };
            (r.read_records(rows, Some(levels), None, values).ok()?.0 == rows).then_some(())
        })?;
        Some(values.into_iter().map(|x| x as u32).collect())
    }
}
