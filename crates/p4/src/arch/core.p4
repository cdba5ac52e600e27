// SPDX-License-Identifier: MIT OR Apache-2.0
// What every architecture has (P4_16 specification, core library).
error { NoError, PacketTooShort, NoMatch, StackOutOfBounds, HeaderTooShort, ParserTimeout,
        ParserInvalidArgument }
match_kind { exact, ternary, lpm }
extern packet_in { }
extern packet_out { }
extern void verify(in bool check, in error toSignal);
action NoAction() { }
