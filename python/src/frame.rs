// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables in Arrow's memory, which pandas, polars, duckdb and pyarrow read without copying.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Float64Array, Int32Array, RecordBatch, RecordBatchIterator,
    StringArray, UInt32Array, UInt64Array,
};
use arrow_buffer::ScalarBuffer;
use arrow_schema::{Field, Schema, SchemaRef};
use cemark_report::rundir::{Column, Table};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// A table with columns of equal length, in parts.
#[pyclass(frozen, module = "cemark._native")]
pub(crate) struct Frame {
    schema: SchemaRef,
    parts: Vec<RecordBatch>,
}

impl Frame {
    /// A frame of tables with equal columns. Numbers are moved, not copied.
    pub(crate) fn new(tables: Vec<Table>) -> Self {
        let words = words(&tables);
        let parts: Vec<RecordBatch> = tables.into_iter().map(|t| batch(t, &words)).collect();
        let schema = match parts.first() {
            Some(part) => part.schema(),
            None => Arc::new(Schema::empty()),
        };
        Frame { schema, parts }
    }
}

#[pymethods]
impl Frame {
    fn __len__(&self) -> usize {
        self.parts.iter().map(RecordBatch::num_rows).sum()
    }

    /// Names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        let fields = self.schema.fields().iter();
        fields.map(|f| f.name().clone()).collect()
    }

    /// The schema for Arrow's PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref());
        let schema = schema.map_err(|e| PyValueError::new_err(e.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The parts for Arrow's PyCapsule interface, without a copy. Arrow lets an exporter disregard
    /// `requested_schema`: its caller compares the schema of the stream and casts.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let parts = self.parts.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(parts, Arc::clone(&self.schema));
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

/// The words of each column of constants, the same in every part.
fn words(tables: &[Table]) -> Vec<Option<Arc<StringArray>>> {
    let columns = tables.first().map_or(0, |t| t.0.len());
    let of = |column: usize| {
        let constants = tables.iter().map(|t| match &t.0[column].1 {
            Column::Constant(word, _) => Some(word.as_str()),
            _ => None,
        });
        let all: Option<BTreeSet<&str>> = constants.collect();
        all.map(|all| Arc::new(StringArray::from_iter_values(all)))
    };
    (0..columns).map(of).collect()
}

fn batch(table: Table, words: &[Option<Arc<StringArray>>]) -> RecordBatch {
    let columns = table
        .0
        .into_iter()
        .zip(words)
        .map(|((name, column), words)| {
            let optional = matches!(column, Column::MaybeU64(_) | Column::MaybeF64(_));
            let array = array(column, words.as_ref());
            (Field::new(name, array.data_type().clone(), optional), array)
        });
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).expect("columns of one table")
}

fn array(column: Column, words: Option<&Arc<StringArray>>) -> ArrayRef {
    match (column, words) {
        (Column::U32(v), _) => Arc::new(UInt32Array::new(ScalarBuffer::from(v), None)),
        (Column::U64(v), _) => Arc::new(UInt64Array::new(ScalarBuffer::from(v), None)),
        (Column::F64(v), _) => Arc::new(Float64Array::new(ScalarBuffer::from(v), None)),
        (Column::MaybeU64(v), _) => Arc::new(UInt64Array::from(v)),
        (Column::MaybeF64(v), _) => Arc::new(Float64Array::from(v)),
        (Column::Text(v), _) => Arc::new(StringArray::from(v)),
        (Column::Constant(word, rows), Some(words)) => {
            let place = words.iter().position(|w| w == Some(word.as_str()));
            let place = i32::try_from(place.expect("it is among them")).expect("few words");
            let keys = Int32Array::from_value(place, rows);
            let words = Arc::clone(words);
            Arc::new(DictionaryArray::try_new(keys, words).expect("a key of these words"))
        }
        (Column::Constant(word, rows), None) => {
            Arc::new(StringArray::from(vec![word.as_str(); rows]))
        }
    }
}
