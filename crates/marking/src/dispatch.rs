// SPDX-License-Identifier: MIT OR Apache-2.0
//! Static dispatch: the methods of [`Marker`](crate::Marker) are listed here once, for every enum
//! of markers.

/// Implements [`Marker`](crate::Marker) for an enum each of whose variants is a marker: a match
/// instead of a table of functions, and no allocation. The expression behind the arrow is the
/// variant's marker.
///
/// `#[by_copy]` before a variant gives its hooks a copy of [`At`](crate::At). Use it for a boxed
/// `dyn Marker`: the compiler cannot see into its calls, and without the copy it would have to
/// build the view in memory for the other variants too.
///
/// ```
/// use cemark_marking::tcn::{Tcn, TcnConfig};
/// use cemark_marking::{Marker, QueueSpec, dispatch_marker};
/// use cemark_wire::{Nanos, Rate};
///
/// enum Mine {
///     Tcn(Tcn),
///     Other(Box<dyn Marker>),
/// }
///
/// dispatch_marker! { Mine { Tcn(m) => m, #[by_copy] Other(m) => m } }
///
/// let config = TcnConfig { threshold: Nanos::from_micros(85) };
/// let mine = Mine::Tcn(Tcn::from_config(config, &QueueSpec::fifo(Rate::gbps(10))));
/// assert!(!mine.draws());
/// ```
#[macro_export]
macro_rules! dispatch_marker {
    (@view $at:ident) => { $at };
    (@view $at:ident by_copy) => { &{ *$at } };
    ($Enum:ident {
        $($(#[$how:ident])? $Variant:ident $(($m:ident))? => $marker:expr),+ $(,)?
    }) => {
        impl $crate::Marker for $Enum {
            #[inline]
            fn hook(&self) -> $crate::Hook {
                match self { $($Enum::$Variant $(($m))? => $marker.hook()),+ }
            }

            #[inline]
            fn reads_length_at_dequeue(&self) -> bool {
                match self { $($Enum::$Variant $(($m))? => $marker.reads_length_at_dequeue()),+ }
            }

            fn watches_empty(&self) -> bool {
                match self { $($Enum::$Variant $(($m))? => $marker.watches_empty()),+ }
            }

            fn draws(&self) -> bool {
                match self { $($Enum::$Variant $(($m))? => $marker.draws()),+ }
            }

            fn quiet_below(&self, mtu: u32) -> u32 {
                match self { $($Enum::$Variant $(($m))? => $marker.quiet_below(mtu)),+ }
            }

            fn quiet_by_round(&self) -> $crate::Quiet {
                match self { $($Enum::$Variant $(($m))? => $marker.quiet_by_round()),+ }
            }

            #[inline]
            fn quiet_sojourn(&self) -> $crate::Time {
                match self { $($Enum::$Variant $(($m))? => $marker.quiet_sojourn()),+ }
            }

            // Inlined, so that a port computes only what the scheme reads.
            #[inline(always)]
            fn enqueue(&mut self, at: &$crate::At) -> $crate::Verdict {
                match self {
                    $($Enum::$Variant $(($m))? => {
                        $marker.enqueue($crate::dispatch_marker!(@view at $($how)?))
                    })+
                }
            }

            // Inlined, so that a port computes only what the scheme reads.
            #[inline(always)]
            fn dequeue(&mut self, at: &$crate::At) -> $crate::Verdict {
                match self {
                    $($Enum::$Variant $(($m))? => {
                        $marker.dequeue($crate::dispatch_marker!(@view at $($how)?))
                    })+
                }
            }

            #[inline]
            fn emptied(&mut self, queue: $crate::QueueId, now: $crate::Time) {
                match self { $($Enum::$Variant $(($m))? => $marker.emptied(queue, now)),+ }
            }

            fn retune(&mut self, params: &$crate::Values, queue: &$crate::QueueSpec) {
                match self { $($Enum::$Variant $(($m))? => $marker.retune(params, queue)),+ }
            }

            fn keeps_time(&self) -> bool {
                match self { $($Enum::$Variant $(($m))? => $marker.keeps_time()),+ }
            }

            fn next_wake(&self) -> Option<$crate::Time> {
                match self { $($Enum::$Variant $(($m))? => $marker.next_wake()),+ }
            }

            fn wake(&mut self, at: &$crate::At) {
                match self { $($Enum::$Variant $(($m))? => $marker.wake(at)),+ }
            }
        }
    };
}
