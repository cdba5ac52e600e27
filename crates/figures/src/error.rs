// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mistakes in the files under `figures/`, and the reasons why a row may have no number.

use cemark_report::metrics::Missing;

/// A mistake in a file under `figures/`.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {mistake}")]
pub struct FileError {
    /// The file, with the line where it is known: `figures/targets.tsv:12`.
    pub place: String,
    /// Mistake at the place.
    pub mistake: Box<Mistake>,
}

impl FileError {
    /// A mistake at a place.
    pub fn new(place: impl Into<String>, mistake: impl Into<Mistake>) -> Self {
        FileError {
            place: place.into(),
            mistake: Box::new(mistake.into()),
        }
    }
}

/// Kind of a mistake in a file under `figures/`.
#[derive(Debug, thiserror::Error)]
pub enum Mistake {
    /// Text that is not TOML, or a value of the wrong type.
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    /// The changed scenario cannot be written down.
    #[error("{0}")]
    Unwritable(#[from] toml::ser::Error),
    /// `looks` that are no list of rising numbers.
    #[error(
        "[full]: `looks` are at most 8 rising numbers of seeds, up to 1000; write for example \
         looks = [3, 6, 12, 24]"
    )]
    Looks,
    /// A figure without rows.
    #[error("there is no [[row]]; write one for each line of figures/targets.tsv")]
    NoRows,
    /// A `[[row]]` that cannot be read.
    #[error("[[row]]: {0}")]
    Row(toml::de::Error),
    /// A key that is a table.
    #[error("{0} is a table; write {0} and its keys below")]
    NotATable(&'static str),
    /// A variant is named in the axis `variant`.
    #[error("a [[variant]] needs a name; write name = \"...\"")]
    NamelessVariant,
    /// A mode changes a variant that the figure does not have.
    #[error("[quick] or [full] changes the variant `{0}`, and no [[variant]] has this name")]
    UnknownVariant(String),
    /// Parameters of the experiment that no line of `[why]` grades.
    #[error(
        "no grade for {0}; write the paths below [why.paper], [why.code], [why.tool] or [why.ours]"
    )]
    NoGrade(String),
    /// A path of `[why]` that names no parameter of the file.
    #[error("[why]: the file has no parameter `{0}`")]
    StrayGrade(String),
    /// A table below `[why]` that is no grade.
    #[error("[why.{0}] is not a grade; write [why.paper], [why.code], [why.tool] or [why.ours]")]
    UnknownGrade(String),
    /// A line of `[why]` that is neither a text nor a text beside that of a better source.
    #[error(
        "[why] `{0}`: write a text, or {{ why = \"...\", code = \"...\" }} where a source of a \
         better grade has another value"
    )]
    Grade(String),
    /// `"$name"` without a parameter of that name.
    #[error("`${0}` is not a parameter of figures/calibration.toml")]
    Parameter(String),
    /// More free parameters than allowed.
    #[error("{found} free parameters are too many; at most {most} are allowed")]
    Parameters {
        /// How many there are.
        found: usize,
        /// How many are allowed.
        most: usize,
    },
    /// Error of the scenario parser, with its help and the text it read.
    #[error("{message}\n{text}")]
    Scenario {
        /// Message and help.
        message: String,
        /// The scenario as it was read, since the lines of the message are those of this text.
        text: String,
    },
    /// A target of this figure has no row.
    #[error("there is no [[row]] with id = \"{0}\", which figures/targets.tsv has")]
    NoRow(String),
    /// A row has no target.
    #[error("[[row]] {0} is not in figures/targets.tsv; add its line there")]
    StrayRow(String),
    /// A row has no number.
    #[error("{id}: {why}")]
    NoNumber {
        /// The row's id.
        id: String,
        /// Why.
        why: RowError,
    },
    /// A line of a table that cannot be read.
    #[error("{0}")]
    Line(String),
    /// A value that cannot be read.
    #[error("`{text}` in the column `{column}` is not {wanted}")]
    Value {
        /// Text in the line.
        text: String,
        /// In which column.
        column: String,
        /// Form that the value must have.
        wanted: &'static str,
    },
    /// Two lines of one id.
    #[error("`{0}` is there twice")]
    Twice(String),
    /// A band that contains no number.
    #[error("lo = {lo} is above hi = {hi}")]
    Band {
        /// Lower end.
        lo: f64,
        /// Upper end.
        hi: f64,
    },
}

/// Why a row has no number.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RowError {
    /// A point has no value for the metric.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// An unknown metric.
    #[error("no metric is called `{key}`; {near}")]
    Metric {
        /// Name in the row.
        key: String,
        /// Names like it.
        near: String,
    },
    /// Cells that are combined and were not simulated with the same seeds.
    #[error("{0} have different seeds")]
    Seeds(String),
    /// More than one cell and no rule how they become one number.
    #[error("{0} cells are selected; name one with `where`, or write over = \"mean\"")]
    Cells(usize),
    /// No cell.
    #[error("no cell is selected")]
    NoCell,
    /// `highest-low` of a cell without interval.
    #[error("a cell has no interval; over = \"highest-low\" needs three seeds")]
    NoInterval,
    /// An unknown axis.
    #[error("there is no axis `{axis}`; axes: {}", known.join(", "))]
    Axis {
        /// Name in the row.
        axis: String,
        /// The axes of the points.
        known: Vec<String>,
    },
    /// A selection without points.
    #[error("no point has {0}")]
    Selection(String),
    /// An unknown scheme.
    #[error("no scheme is labelled `{label}` at {axes}; labels: {}", known.join(", "))]
    Scheme {
        /// Label in the row.
        label: String,
        /// Where.
        axes: String,
        /// The labels there.
        known: Vec<String>,
    },
    /// Too few labels.
    #[error("`schemes` needs {0}")]
    Labels(&'static str),
    /// A formula that combines cells was asked for one cell.
    #[error("this statistic is not taken cell by cell")]
    NotByCell,
    /// The schemes do not have the same endless flows.
    #[error("the two schemes do not have the same endless flows")]
    EndlessFlows,
    /// A percentage of zero.
    #[error("the metric is zero under `{0}` in one seed, so nothing can be in percent of it")]
    Zero(String),
    /// No flow to compare.
    #[error("a seed has no flow of this size class that finished under both schemes")]
    Pairs,
    /// A walk along no axis.
    #[error("`onset` and `growth` need an axis; write axis = \"load\"")]
    NoAxis,
    /// A value of an axis without a number in it.
    #[error("`{0}` is not a number to walk along")]
    AxisValue(String),
    /// Too few values of an axis.
    #[error("{0} needs two values of the axis or more{1}")]
    AxisValues(&'static str, &'static str),
    /// A computed row without its model.
    #[error("this row needs a model; write model = \"...\"")]
    NoModel,
    /// A model that does not exist, or something that is not taken of it.
    #[error("`{found}` is not {wanted}")]
    Model {
        /// Text in the row.
        found: String,
        /// Texts that the row may have.
        wanted: String,
    },
}
