// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program with every name resolved: structures are taken apart into numbered fields, instances
//! of controls are inlined, constants are values. The interpreter runs this form; the `.spec` is
//! made of it.

use crate::error::Place;

/// A scalar of the program.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its path in the source, `hdr.ipv4.ecn`.
    pub name: String,
    /// Bits. A `bool` has one.
    pub width: u32,
    /// Whether it is an `int<W>`.
    pub signed: bool,
}

/// A field by number.
pub type Slot = usize;

/// A header: its fields in the order in which they are in a packet.
#[derive(Clone, Debug)]
pub struct Header {
    /// Its path in the source.
    pub name: String,
    /// Its type's name.
    pub type_name: String,
    /// Its fields.
    pub fields: Vec<Slot>,
}

/// A unary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `!`
    Not,
    /// `~`
    Invert,
    /// `-`
    Negate,
}

/// An expression. Values are kept in the low bits of a `u128`.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Bits of the value.
    pub width: u32,
    /// Whether it is signed.
    pub signed: bool,
    /// The expression's kind, with its operands.
    pub kind: ExprKind,
    /// Where it is written.
    pub place: Place,
}

/// A kind of expression, with its operands.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A number.
    Constant(u128),
    /// A field.
    Field(Slot),
    /// Whether a header is valid.
    Valid(usize),
    /// Bits `hi` to `lo`.
    Slice(Box<Expr>, u32, u32),
    /// An operator with one operand.
    Unary(Unary, Box<Expr>),
    /// An operator with two, as it is written.
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// `? :`
    Choose(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A change of width or sign.
    Cast(Box<Expr>),
    /// The result of a math unit for a value.
    Math(usize, Box<Expr>),
    /// Applies a table; whether an entry was found.
    Hit(usize),
}

/// A pattern of a table's key or of a `select`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Bits, and the mask under which they are compared.
    Mask(u128, u128),
    /// From, to.
    Range(u128, u128),
}

impl Pattern {
    /// Matches everything.
    pub const ANY: Pattern = Pattern::Mask(0, 0);

    /// Whether a value matches.
    pub fn matches(&self, value: u128) -> bool {
        match *self {
            Pattern::Mask(bits, mask) => value & mask == bits & mask,
            Pattern::Range(from, to) => (from..=to).contains(&value),
        }
    }
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Where it is written.
    pub place: Place,
    /// The statement's kind, with its operands.
    pub kind: StmtKind,
}

/// A kind of statement, with its operands.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// Sets a field, or its bits `hi` to `lo`.
    Set(Slot, Option<(u32, u32)>, Expr),
    /// A condition.
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// Applies a table; then what follows the action that ran, by the action's number.
    Apply(usize, Vec<(usize, Vec<Stmt>)>),
    /// Runs an action with these arguments.
    Action(usize, Vec<Expr>),
    /// Runs a register action at an index; its result goes to a field.
    Execute(usize, Expr, Option<Slot>),
    /// Reads a register at an index into fields.
    Read(usize, Expr, Vec<Slot>),
    /// Writes fields to a register at an index.
    Write(usize, Expr, Vec<Expr>),
    /// Makes a header valid or not.
    SetValid(usize, bool),
    /// Takes a header from the packet.
    Extract(usize),
    /// Skips bits of the packet.
    Advance(Expr),
    /// Puts a header, if it is valid, in front of the payload.
    Emit(usize),
    /// A parser called by a parser.
    Parse(usize),
    /// A block that `return` ends.
    Scope(Vec<Stmt>),
    /// Ends the innermost scope.
    Return,
    /// Ends the control.
    Exit,
}

/// An action. Its parameters are fields that the caller sets.
#[derive(Clone, Debug)]
pub struct Action {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub params: Vec<Slot>,
    /// Statements that the action runs.
    pub body: Vec<Stmt>,
}

/// An entry of a table.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Patterns of the entry, one for each key.
    pub patterns: Vec<Pattern>,
    /// The action's number.
    pub action: usize,
    /// Its arguments.
    pub args: Vec<u128>,
}

/// A key of a table.
#[derive(Clone, Debug)]
pub struct Key {
    /// The value that is compared.
    pub value: Expr,
    /// `exact`, `ternary`, `lpm`, `range`.
    pub kind: String,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub place: Place,
    /// Keys that the table matches.
    pub keys: Vec<Key>,
    /// Actions that it may run.
    pub actions: Vec<usize>,
    /// Entries that the program fixes. The first that matches counts.
    pub entries: Vec<Entry>,
    /// The action that runs if no entry matches, and its arguments.
    pub default: (usize, Vec<u128>),
    /// Entries that there is room for.
    pub size: u64,
}

/// An array of registers.
#[derive(Clone, Debug)]
pub struct Register {
    /// Its name.
    pub name: String,
    /// The width of each part of an entry.
    pub lanes: Vec<u32>,
    /// Initial value of each part of an entry.
    pub initial: Vec<u128>,
    /// Entries.
    pub size: u64,
}

/// A program of a stateful ALU, for one entry of a register.
#[derive(Clone, Debug)]
pub struct RegisterAction {
    /// Where it is.
    pub place: Place,
    /// The register.
    pub register: usize,
    /// The fields that hold the entry while the body runs.
    pub lanes: Vec<Slot>,
    /// The field that holds the result.
    pub result: Option<Slot>,
    /// Statements that the ALU runs.
    pub body: Vec<Stmt>,
}

/// A Tofino's math unit: `table[top four bits] x 2^(scale +- the exponent)`.
#[derive(Clone, Debug)]
pub struct MathUnit {
    /// Whether the exponent is negated (`1 / x`).
    pub invert: bool,
    /// -1 halves the exponent (a root), 1 doubles it.
    pub shift: i32,
    /// Added to the exponent.
    pub scale: i32,
    /// By index, 0 to 15.
    pub table: [u8; 16],
}

/// A state of a parser.
#[derive(Clone, Debug)]
pub struct State {
    /// Statements that the state runs.
    pub body: Vec<Stmt>,
    /// The values that choose the next state.
    pub keys: Vec<Expr>,
    /// Patterns and next states. The first that matches counts; none: reject.
    pub next: Vec<(Vec<Pattern>, Target)>,
}

/// Where a parser goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A state by number.
    State(usize),
    /// The packet is parsed.
    Accept,
    /// The packet is discarded.
    Reject,
}

/// A parser; it begins in state 0.
#[derive(Clone, Debug)]
pub struct Parser {
    /// Variables that are set before it begins.
    pub before: Vec<Stmt>,
    /// Its states.
    pub states: Vec<State>,
}

/// A half of a switch: a parser, controls, a deparser.
#[derive(Clone, Debug, Default)]
pub struct Gress {
    /// The parser's number.
    pub parser: Option<usize>,
    /// Statements of each control, in the order of the controls.
    pub controls: Vec<Vec<Stmt>>,
    /// Statements of the deparser.
    pub deparser: Vec<Stmt>,
    /// Fields that begin at zero for each packet, so all but intrinsic metadata.
    pub fresh: Vec<Slot>,
    /// Headers that begin invalid.
    pub headers: Vec<usize>,
}

/// A program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Its file.
    pub file: String,
    /// All scalars.
    pub fields: Vec<Field>,
    /// All headers.
    pub headers: Vec<Header>,
    /// All actions.
    pub actions: Vec<Action>,
    /// All tables.
    pub tables: Vec<Table>,
    /// All registers.
    pub registers: Vec<Register>,
    /// All register actions.
    pub register_actions: Vec<RegisterAction>,
    /// All math units.
    pub math: Vec<MathUnit>,
    /// All parsers.
    pub parsers: Vec<Parser>,
    /// Ingress and egress.
    pub gresses: Vec<Gress>,
}

impl Program {
    /// The field with this path, `egress.md.why`.
    pub fn field(&self, path: &str) -> Option<Slot> {
        self.fields.iter().position(|f| f.name == path)
    }

    /// The table with this name.
    pub fn table(&self, name: &str) -> Option<usize> {
        self.tables.iter().position(|t| t.name == name)
    }
}
