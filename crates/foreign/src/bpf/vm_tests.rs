// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interpreter: every error, and its results against those of another interpreter (rbpf).

use super::*;
use crate::bpf::object_file;
use crate::{abi::Entry, bpf::elf};
use cemark_marking::{QueueSpec, Values, catalogue};
use cemark_wire::Rate;

const EXIT: [u8; 8] = [0x95, 0, 0, 0, 0, 0, 0, 0];

/// Encodes an instruction. In `registers` the upper half is the source, the lower the destination.
fn insn(code: u8, registers: u8, offset: i16, imm: i32) -> [u8; 8] {
    let (o, i) = (offset.to_le_bytes(), imm.to_le_bytes());
    [code, registers, o[0], o[1], i[0], i[1], i[2], i[3]]
}

/// Loads a 64-bit constant into a register.
fn constant(register: u8, value: u64) -> [u8; 16] {
    let mut both = [0; 16];
    both[..8].copy_from_slice(&insn(0x18, register, 0, value as u32 as i32));
    both[8..].copy_from_slice(&insn(0, 0, 0, (value >> 32) as i32));
    both
}

fn call() -> Call {
    Call::new(&Values([0; _]), &QueueSpec::fifo(Rate::gbps(1)))
}

fn run(program: &[u8]) -> Result<u64, Trap> {
    Vm::load(program).unwrap().execute(call().bytes(), BUDGET)
}

fn wrong(program: &[u8]) -> Wrong {
    run(program).unwrap_err().what
}

#[test]
fn a_load_outside_the_block_is_a_fault() {
    let mut call = call();
    // w0 = *(u32 *)(r1 + at)
    let read = |at: i16| Vm::load(&[insn(0x61, 0x10, at, 0), EXIT].concat()).unwrap();
    call.at.now = 77;
    assert_eq!(read(0).run(&mut call), Ok(77));
    let last = size_of::<Call>() as i16 - 4;
    assert_eq!(read(last).run(&mut call), Ok(0));
    for beyond in [last + 1, last + 4, -1, -4] {
        let trap = read(beyond).run(&mut call).unwrap_err();
        let says = format!(
            "instruction 0: reads 4 bytes at byte {beyond} of its block of {} bytes",
            last + 4
        );
        assert_eq!(trap.why(), says);
    }
}

#[test]
fn only_the_frames_of_active_functions_are_there() {
    let store = |at: i16| insn(0x7a, 0x0a, at, 5); // *(u64 *)(r10 + at) = 5
    for inside in [-8, -512] {
        assert!(run(&[store(inside), EXIT].concat()).is_ok());
    }
    for outside in [-520, -4, 0, 8] {
        let what = wrong(&[store(outside), EXIT].concat());
        assert!(matches!(what, Wrong::Store { size: 8, .. }), "{what:?}");
    }
    // The same address in a called function, which is zero whatever was there before.
    let enter = insn(0x85, 0x10, 0, 1);
    let in_callee = |body: [u8; 8]| [enter, EXIT, body, EXIT].concat();
    assert!(run(&in_callee(store(-512))).is_ok());
    assert!(run(&in_callee(store(-520))).is_err());
    // A called function may write to its caller's frame through a pointer.
    let pointer = [
        insn(0xbf, 0xa2, 0, 0),  // r2 = r10
        insn(0x85, 0x10, 0, 2),  // call
        insn(0x79, 0xa0, -8, 0), // r0 = *(u64 *)(r10 - 8)
        EXIT,
        insn(0x7a, 0x02, -8, 5), // *(u64 *)(r2 - 8) = 5
        EXIT,
    ];
    assert_eq!(run(&pointer.concat()), Ok(5));
    let twice = [
        insn(0x85, 0x10, 0, 2),
        insn(0x85, 0x10, 0, 1),
        EXIT,
        insn(0x79, 0xa0, -8, 0), // r0 = what the call before it left
        insn(0x7a, 0x0a, -8, 5),
        EXIT,
    ];
    assert_eq!(run(&twice.concat()), Ok(0));
}

#[test]
fn what_never_ends_ends() {
    assert_eq!(wrong(&[insn(0x05, 0, -1, 0), EXIT].concat()), Wrong::Budget);
    assert_eq!(
        wrong(&[insn(0x85, 0x10, 0, -1), EXIT].concat()),
        Wrong::Depth
    );
    assert_eq!(wrong(&insn(0xb7, 0, 0, 1)), Wrong::End);
    assert_eq!(
        wrong(&[insn(0x85, 0, 0, 5), EXIT].concat()),
        Wrong::Helper(5)
    );
    // A loop that executes exactly the largest number of instructions: two before it, three in it
    // and one after it.
    let passes = (BUDGET as i32 - 3) / 3;
    let rounds = |n: i32| {
        let program = [
            insn(0xb7, 0, 0, 0),
            insn(0xb7, 1, 0, n),
            insn(0x07, 0, 0, 1),
            insn(0x17, 1, 0, 1),
            insn(0x55, 1, -3, 0),
            EXIT,
        ];
        run(&program.concat()).map_err(|t| t.what)
    };
    assert_eq!(rounds(passes), Ok(passes as u64));
    assert_eq!(rounds(passes + 1), Err(Wrong::Budget));
}

#[test]
fn what_is_no_program_is_refused() {
    for (program, says) in [
        (vec![], "no whole number"),
        (vec![0x95; 7], "no whole number"),
        (insn(0x05, 0, 1, 0).to_vec(), "leads to 2"),
        (insn(0x05, 0, -2, 0).to_vec(), "leads to -1"),
        (insn(0x85, 0x10, 0, 7).to_vec(), "leads to 8"),
        (
            [&constant(0, 1)[..], &insn(0x05, 0, -2, 0)].concat(),
            "leads to 1",
        ),
        (insn(0x18, 0, 0, 0).to_vec(), "half a constant"),
        (insn(0x18, 0x10, 0, 0).to_vec(), "map or a global"),
        (insn(0xb7, 10, 0, 0).to_vec(), "registers 10"),
        (insn(0xb7, 11, 0, 0).to_vec(), "registers 11"),
        (insn(0xdb, 0x10, 0, 0).to_vec(), "atomic"),
        (insn(0x20, 0, 0, 0).to_vec(), "not known"),
        (insn(0x85, 0x20, 0, 0).to_vec(), "not known"),
        (insn(0xe7, 0, 0, 0).to_vec(), "not known"),
        (insn(0x07, 0, 3, 0).to_vec(), "not known"),
    ] {
        let refused = Vm::load(&program).unwrap_err();
        assert!(refused.contains(says), "{program:x?}: {refused}");
    }
}

/// Numbers at the limits of 8, 16, 32 and 64 bits, signed and unsigned, and next to them.
const NUMBERS: &[u64] = &[
    0,
    1,
    2,
    7,
    31,
    32,
    33,
    63,
    64,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x1234_5678_9abc_def0,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_8000_0000,
    u64::MAX,
];

/// Every operation on two registers, and on a register and a constant, against rbpf.
#[test]
fn operations_are_those_of_another_machine() {
    let mut compared = 0;
    for code in (0..=0xff_u8).filter(|c| c & 7 >= class::ALU && c & 0xf0 <= 0xd0) {
        let (op, jump) = (code & 0xf0, matches!(code & 7, class::JMP | class::JMP32));
        let swap = op == 0xd0 && !jump;
        if jump && (op == 0x80 || op == 0x90) {
            continue;
        }
        for (&a, &b) in NUMBERS
            .iter()
            .flat_map(|a| NUMBERS.iter().map(move |b| (a, b)))
        {
            let by_register = code & 0x08 != 0;
            let imm = if swap {
                [16, 32, 64][b as usize % 3]
            } else {
                b as i32
            };
            let registers = if by_register || op == 0xd0 {
                0x21
            } else {
                0x01
            };
            let imm_or_none = if by_register && !swap { 0 } else { imm };
            let mut program = [&constant(1, a)[..], &constant(2, b)].concat();
            program.extend(insn(code, registers, jump.into(), imm_or_none));
            program.extend(insn(
                if jump { 0xb7 } else { 0xbf },
                if jump { 0x01 } else { 0x11 },
                0,
                1,
            ));
            program.extend(insn(0xbf, 0x10, 0, 0)); // r0 = r1
            program.extend(EXIT);
            // What rbpf does not support or gets wrong: unsigned 64-bit comparisons with a negative
            // constant, the 32-bit remainder by zero, the negation of the smallest number, far
            // jumps, and 64-bit byte swaps that are not conversions.
            let ours_alone = code == 0x06
                || (jump && code & 7 == class::JMP && !by_register && imm < 0)
                || (code & 7 == class::ALU && op == 0x90 && b as u32 == 0)
                || (op == 0x80 && (a == 1 << 63 || a as u32 == 1 << 31))
                || (op == 0xd0 && code & 7 == class::ALU64);
            if ours_alone || Vm::load(&program).is_err() {
                continue;
            }
            let theirs = rbpf::EbpfVmNoData::new(Some(&program))
                .unwrap()
                .execute_program();
            assert_eq!(
                run(&program),
                Ok(theirs.unwrap()),
                "{code:#04x} of {a:#x} and {b:#x}"
            );
            compared += 1;
        }
    }
    assert!(compared > 40_000, "{compared} compared only");
}

/// Instructions that rbpf does not support or gets wrong do as RFC 9669 defines.
#[test]
fn the_rest_is_as_the_standard_says() {
    let two = |code: u8, offset: i16, a: u64, b: u64| {
        let body = [insn(code, 0x21, offset, 0), insn(0xbf, 0x10, 0, 0), EXIT].concat();
        run(&[&constant(1, a)[..], &constant(2, b), &body].concat()).unwrap()
    };
    let minus = |n: i64| (-n) as u64;
    assert_eq!(two(0x3f, 1, minus(7), 2), minus(3)); // signed division
    assert_eq!(two(0x9f, 1, minus(7), 2), minus(1));
    assert_eq!(two(0x3f, 1, 1 << 63, minus(1)), 1 << 63);
    assert_eq!(two(0x3c, 1, minus(7), 2), 0xffff_fffd);
    assert_eq!(two(0x9c, 1, minus(7), 2), 0xffff_ffff);
    assert_eq!(two(0x9c, 0, 0x5_0000_0007, 0), 7);
    assert_eq!(two(0x87, 0, 1 << 63, 0), 1 << 63);
    assert_eq!(two(0xbf, 8, 0, 0x80), minus(128)); // moves that extend the sign
    assert_eq!(two(0xbf, 16, 0, 0x8000), minus(32_768));
    assert_eq!(two(0xbf, 32, 0, 0x8000_0000), minus(1 << 31));
    assert_eq!(two(0xbc, 8, 0, 0x80), 0xffff_ff80);
    let swap = |bits| {
        run(&[
            &constant(0, 0x0102_0304_0506_0708)[..],
            &insn(0xd7, 0, 0, bits),
            &EXIT,
        ]
        .concat())
    };
    assert_eq!(swap(16), Ok(0x0807));
    assert_eq!(swap(32), Ok(0x0807_0605));
    assert_eq!(swap(64), Ok(0x0807_0605_0403_0201));
    // A constant is sign-extended before it is compared.
    let equal = [
        insn(0xb7, 0, 0, -1),
        insn(0x15, 0, 1, -1),
        insn(0xb7, 0, 0, 0),
        EXIT,
    ]
    .concat();
    assert_eq!(run(&equal), Ok(u64::MAX));
    // A far jump, and a sign-extending load.
    let far = [
        insn(0xb7, 0, 0, 3),
        insn(0x06, 0, 0, 1),
        insn(0xb7, 0, 0, 0),
        EXIT,
    ]
    .concat();
    assert_eq!(run(&far), Ok(3));
    let signed = [insn(0x7a, 0x0a, -8, 0x80), insn(0x91, 0xa0, -8, 0), EXIT].concat();
    assert_eq!(run(&signed), Ok(minus(128)));
}

/// Every program of every scheme on random blocks gives the same results and leaves the same
/// blocks, in at most a fiftieth of the instructions that a call may take. The longest, 11,000, are
/// products of 128 bits, whose loops have no branch so that a kernel's verifier can follow them.
#[test]
fn schemes_run_as_on_another_machine() {
    let mut word = 1_u64;
    let mut next = || {
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        word >> (word % 61)
    };
    for spec in catalogue::deployed() {
        let file = elf::read(&object_file(spec.name).unwrap()).unwrap();
        for (program, entry) in file.programs.iter().zip(Entry::ALL) {
            let ours = Vm::load(program).unwrap();
            let theirs = rbpf::EbpfVmRaw::new(Some(program)).unwrap();
            for _ in 0..300 {
                let mut block = [0_u64; size_of::<Call>() / 8];
                block.fill_with(&mut next);
                let mut left: Vec<u8> = block.iter().flat_map(|w| w.to_le_bytes()).collect();
                let mut right = left.clone();
                let a = ours.execute(&mut left, 20_000);
                let b = theirs.execute_program(&mut right);
                assert_eq!(
                    a.unwrap() as u32,
                    b.unwrap() as u32,
                    "{} {}",
                    spec.name,
                    entry.name()
                );
                assert!(left == right, "{} {}", spec.name, entry.name());
            }
        }
    }
}
