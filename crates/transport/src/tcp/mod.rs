// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP without sockets: [`Sender`] and [`Receiver`], the two ends of one direction of a stream,
//! and [`Connection`], which holds one of each.

mod by_time;
mod connection;
mod mistakes;
mod paced;
mod prr;
mod rack;
mod receiver;
mod recovery;
mod rtt;
mod sender;
mod stack;
mod tlp;
mod undo;
mod writes;

pub use connection::{Connection, Event, Frame, MessageId, SackBlocks};
pub use paced::Paced;
pub(crate) use paced::needs_state;
pub(crate) use rack::Rack;
pub use receiver::Receiver;
pub use sender::{Sender, SenderStats};
pub use stack::Stack;
