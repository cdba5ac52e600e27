// SPDX-License-Identifier: MIT OR Apache-2.0
//! The headers in a 32-bit kernel, which has no floating point, no C library and no 64-bit division
//! except `div_u64`: anything else that they need is an undefined symbol. The tests need clang,
//! which compiles for other machines. `cargo xtask bpf --check` runs them.

use std::fs;
use std::path::Path;
use std::process::Command;

use cemark_marking::catalogue;
use object::Endianness;
use object::read::elf::ElfFile32;
use object::{Object, ObjectSymbol};

/// The part of a kernel's headers that ours include.
const TYPES: &str = "#pragma once
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int s32;
typedef long long s64;
typedef _Bool bool;
";
const MATH: &str =
    "#pragma once\n#include <linux/types.h>\nu64 div_u64(u64 dividend, u32 divisor);\n";

#[test]
fn a_32_bit_kernel_has_all_that_the_headers_call() {
    let folder = std::env::temp_dir().join(format!("cemark-kernel-{}", std::process::id()));
    fs::create_dir_all(folder.join("linux")).expect("a temporary directory");
    fs::write(folder.join("linux/types.h"), TYPES).expect("a file");
    fs::write(folder.join("linux/math64.h"), MATH).expect("a file");
    let dataplane = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dataplane");
    let object = folder.join("marker.o");
    let mut divide = 0;
    let clang = std::env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
    let marker = dataplane.join("marker.c");
    let round = dataplane.join("test/round.c");
    let stems = catalogue::deployed().map(|spec| (spec.name, &marker));
    // The round time is not a scheme: only its functions are compiled.
    for (stem, source) in stems.chain([("round", &round)]) {
        let done = Command::new(&clang)
            .args([
                "--target=i386-linux-gnu",
                "-std=gnu11",
                "-O2",
                "-c",
                "-nostdinc",
                "-ffreestanding",
            ])
            .args([
                "-fno-pic",
                "-mno-sse",
                "-mno-80387",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-D__KERNEL__",
            ])
            .arg(format!("-DCEMARK_STEM={stem}"))
            .arg(format!("-DCEMARK_HEADER=\"cemark/{stem}.h\""))
            .arg("-I")
            .arg(&folder)
            .arg("-I")
            .arg(dataplane.join("include"))
            .arg(source)
            .arg("-o")
            .arg(&object)
            .output()
            .expect("clang");
        assert!(
            done.status.success(),
            "{stem}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
        let bytes = fs::read(&object).expect("the object");
        let elf = ElfFile32::<Endianness>::parse(&*bytes).expect("an object for i386");
        for symbol in elf.symbols().filter(|s| s.is_undefined()) {
            match symbol.name().expect("a name") {
                "" => {}
                "div_u64" => divide += 1,
                "memset" | "memcpy" => {}
                other => panic!("{stem} needs {other}"),
            }
        }
    }
    assert!(
        divide >= 5,
        "schemes that divide must use the kernel's function"
    );
    let _ = fs::remove_dir_all(&folder);
}

/// Bytecode that this machine's clang makes at run time, for a scheme that was built in without
/// bytecode, decides as the bytecode in `dataplane/bpf`.
#[test]
fn clang_compiles_at_run_time_what_the_build_ships() {
    use cemark_foreign::{Code, Foreign, Object, compile, object_file};
    use cemark_marking::{At, Marker, QueueSpec, Values};
    use cemark_wire::{Nanos, Rate};

    let clang = cemark_foreign::clang();
    let file = std::env::temp_dir().join(format!("cemark-clang-{}.o", std::process::id()));
    let queue = QueueSpec::fifo(Rate::gbps(10));
    for spec in catalogue::deployed() {
        let object = |bytes: &[u8]| {
            fs::write(&file, bytes).expect("a temporary file");
            let object = Object::open(&file).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(object.name(), spec.name);
            let marker = Foreign::new(object, &Values::defaults(spec), &queue);
            marker.unwrap_or_else(|e| panic!("{e}"))
        };
        let made = compile(spec.name, &clang).unwrap_or_else(|e| panic!("{e}"));
        let mut made = object(&made);
        let mut shipped = object(&object_file(spec.name).unwrap_or_else(|e| panic!("{e}")));
        for n in 0..5_000_u64 {
            let wait = n * 7_919 % 400_000;
            let at = At::departure(Nanos(n * 1_200), Nanos(wait), wait as u32, 1_500);
            assert_eq!(made.enqueue(&at), shipped.enqueue(&at), "{}", spec.name);
            assert_eq!(made.dequeue(&at), shipped.dequeue(&at), "{}", spec.name);
            assert_eq!(made.next_wake(), shipped.next_wake(), "{}", spec.name);
        }
    }
    let _ = fs::remove_file(&file);
}
