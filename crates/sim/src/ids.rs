// SPDX-License-Identifier: MIT OR Apache-2.0
//! Indices of links, hosts and connections, each a type of its own, so that none is taken for
//! another. Configurations and outcomes, which people write and read, hold plain numbers.

use cemark_wire::Packet;

/// A link, by its place in [`Fabric::links`](crate::topology::Fabric::links).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

impl LinkId {
    /// No link: what a route holds behind its last.
    pub const NONE: LinkId = LinkId(u32::MAX);

    /// As a place in a list.
    #[inline(always)]
    pub fn place(self) -> usize {
        self.0 as usize
    }
}

/// A host, by its number. A proxy at the edge of a site has an end of a connection as well: it
/// counts as a host under the number of the link that it sends on, which for a host is its NIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct HostId(pub u32);

impl HostId {
    /// The link that it sends on.
    #[inline(always)]
    pub fn nic(self) -> LinkId {
        LinkId(self.0)
    }
}

/// A connection, by its slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ConnId(pub u32);

impl ConnId {
    /// The connection that a packet belongs to.
    #[inline(always)]
    pub fn of(packet: &Packet) -> ConnId {
        ConnId(packet.conn)
    }
}

/// An end of a connection: the host that has it, and the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndId {
    pub host: HostId,
    pub conn: ConnId,
}

impl EndId {
    /// The end that a packet is for, at the host where it is.
    #[inline(always)]
    pub fn of(host: HostId, packet: &Packet) -> EndId {
        let conn = ConnId::of(packet);
        EndId { host, conn }
    }
}

macro_rules! indexed {
    ($Id:ty: $($Item:ty),+) => {$(
        impl std::ops::Index<$Id> for Vec<$Item> {
            type Output = $Item;

            #[inline(always)]
            fn index(&self, id: $Id) -> &$Item {
                &self[id.0 as usize]
            }
        }

        impl std::ops::IndexMut<$Id> for Vec<$Item> {
            #[inline(always)]
            fn index_mut(&mut self, id: $Id) -> &mut $Item {
                &mut self[id.0 as usize]
            }
        }
    )+};
}
/// Lets lists be read by an index type: `indexed!(LinkId: Port)`.
pub(crate) use indexed;
