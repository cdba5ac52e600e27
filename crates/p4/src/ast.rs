// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program as it was written.

use std::rc::Rc;

use crate::error::Place;
use crate::lex::Number;

pub(crate) type Name = Rc<str>;

#[derive(Clone, Debug)]
pub(crate) struct Type {
    pub place: Place,
    pub kind: TypeKind,
}

#[derive(Clone, Debug)]
pub(crate) enum TypeKind {
    Bit(Box<Expr>),
    Int(Box<Expr>),
    /// `int` without a width.
    Integer,
    Varbit,
    Bool,
    Void,
    Error,
    Text,
    /// `_`
    Any,
    Tuple,
    Stack,
    Named(Name, Vec<Type>),
}

#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub place: Place,
    pub kind: ExprKind,
}

#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    Number(Number),
    Bool(bool),
    Text,
    Name(Name),
    Member(Box<Expr>, Name),
    Index(Box<Expr>),
    Slice(Box<Expr>, Box<Expr>, Box<Expr>),
    Call(Box<Expr>, Vec<Arg>),
    /// An instance without a name, `IngressParser()`.
    Make(Type),
    Unary(&'static str, Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Choose(Box<Expr>, Box<Expr>, Box<Expr>),
    Cast(Type, Box<Expr>),
    List(Vec<Expr>),
    Record(Vec<(Name, Expr)>),
    Mask(Box<Expr>, Box<Expr>),
    Range(Box<Expr>, Box<Expr>),
    /// `_` or `default`
    Any,
}

#[derive(Clone, Debug)]
pub(crate) struct Arg {
    pub name: Option<Name>,
    pub value: Expr,
}

#[derive(Clone, Debug)]
pub(crate) struct Stmt {
    pub place: Place,
    pub kind: StmtKind,
}

#[derive(Clone, Debug)]
pub(crate) enum StmtKind {
    /// Target, operator of a compound assignment, value.
    Assign(Expr, Option<&'static str>, Expr),
    Call(Expr),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    Block(Vec<Stmt>),
    /// The labels of each case, and its block unless it falls through.
    Switch(Expr, Vec<(Expr, Option<Stmt>)>),
    Return(Option<Expr>),
    Exit,
    Empty,
    Decl(Box<Decl>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    None,
    In,
    Out,
    InOut,
}

#[derive(Clone, Debug)]
pub(crate) struct Param {
    /// `@optional`: an argument or a block may leave it out.
    pub optional: bool,
    pub direction: Direction,
    pub ty: Type,
    pub name: Name,
}

#[derive(Clone, Debug)]
pub(crate) struct Decl {
    pub place: Place,
    pub name: Name,
    /// Type parameters of the declaration.
    pub generics: Vec<Name>,
    pub kind: DeclKind,
}

#[derive(Clone, Debug)]
pub(crate) enum DeclKind {
    Const(Type, Expr),
    Variable(Type, Option<Expr>),
    Header(Vec<(Name, Type)>),
    Struct(Vec<(Name, Type)>),
    Union,
    Enum(Vec<Name>),
    /// An enum with a type and values.
    ValueEnum(Type, Vec<(Name, Expr)>),
    /// Also `type`.
    Typedef(Type),
    /// The members of `error` or `match_kind`.
    Names(Vec<Name>),
    Extern,
    ExternFunction,
    Package(Vec<Param>),
    Parser(Vec<Param>, Vec<Param>, Option<ParserBody>),
    Control(Vec<Param>, Vec<Param>, Option<ControlBody>),
    Action(Vec<Param>, Vec<Stmt>),
    Function(Vec<Param>, Vec<Stmt>),
    Table(Table),
    /// `Register<…>(…) name;`, with the functions of an initialiser.
    Instance(Type, Vec<Arg>, Vec<Decl>),
    ValueSet,
}

#[derive(Clone, Debug)]
pub(crate) struct ParserBody {
    pub locals: Vec<Decl>,
    pub states: Vec<State>,
}

#[derive(Clone, Debug)]
pub(crate) struct ControlBody {
    pub locals: Vec<Decl>,
    pub apply: Vec<Stmt>,
}

#[derive(Clone, Debug)]
pub(crate) struct State {
    pub place: Place,
    pub name: Name,
    pub stmts: Vec<Stmt>,
    pub next: Next,
}

#[derive(Clone, Debug)]
pub(crate) enum Next {
    State(Name, Place),
    Select(Vec<Expr>, Vec<(Vec<Expr>, Name, Place)>),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub keys: Vec<(Expr, Name, Place)>,
    /// A name, or a call with bound arguments.
    pub actions: Vec<Expr>,
    pub default: Option<Expr>,
    /// Patterns, action, priority.
    pub entries: Vec<(Vec<Expr>, Expr, Option<Expr>)>,
    pub size: Option<Expr>,
    /// Properties beside those.
    pub others: Vec<(Name, Place)>,
}
