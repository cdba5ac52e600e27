// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP without sockets: [`Sender`] and [`Receiver`], the two ends of one direction of a stream,
//! and [`Connection`], which holds one of each.

mod connection;
mod paced;
mod receiver;
mod recovery;
mod rtt;
mod sender;

pub use connection::{Connection, Event, Frame, MessageId, SackBlocks};
pub use paced::Paced;
pub use receiver::Receiver;
pub use sender::{Sender, SenderStats};
