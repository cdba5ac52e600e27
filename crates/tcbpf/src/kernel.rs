// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loads the program of a scheme, and finds the maps of a loaded one.

use std::io;
use std::os::fd::AsFd;

use aya::maps::{Array, Map, MapData, MapError, MapInfo};
use aya::programs::{ProgramError, SchedClassifier, TcAttachType, loaded_programs};
use aya::{Ebpf, EbpfError, EbpfLoader};

use crate::Error;
use crate::layout::{CONFIG, QUEUE};

include!(concat!(env!("OUT_DIR"), "/objects.rs"));

/// Lines of the verifier's log that an error shows.
const LINES: usize = 6;
/// Read a value under its lock (BPF_F_LOCK).
const LOCKED: u64 = 4;

/// The program that is attached.
pub(crate) const LIVE: &str = "cemark";

/// An object whose maps are made and whose programs can be loaded.
pub(crate) struct Object {
    ebpf: Ebpf,
    scheme: &'static str,
}

impl Object {
    pub(crate) fn open(scheme: &'static str) -> Result<Object, Error> {
        let (_, bytes) = OBJECTS
            .iter()
            .find(|(stem, _)| *stem == scheme)
            .ok_or_else(|| Error::NoObject(scheme.to_owned()))?;
        // No object reads a struct of the kernel, so none needs the kernel's types.
        let ebpf = EbpfLoader::new()
            .btf(None)
            .load(bytes)
            .map_err(|e| explain(e, scheme))?;
        Ok(Object { ebpf, scheme })
    }

    /// Has the verifier check a program.
    pub(crate) fn load(&mut self, name: &str) -> Result<&SchedClassifier, Error> {
        let scheme = self.scheme;
        let program: &mut SchedClassifier = self
            .ebpf
            .program_mut(name)
            .ok_or_else(|| Error::NoObject(scheme.to_owned()))?
            .try_into()
            .map_err(|e: ProgramError| explain(e.into(), scheme))?;
        match program.load() {
            Ok(()) | Err(ProgramError::AlreadyLoaded) => Ok(program),
            Err(e) => Err(explain(e.into(), scheme)),
        }
    }

    /// A program that is loaded already.
    pub(crate) fn program(&self, name: &str) -> Option<&SchedClassifier> {
        self.ebpf.program(name)?.try_into().ok()
    }

    /// A new device knows `words`.
    pub(crate) fn configure(&mut self, words: &[u64; CONFIG]) -> Result<(), Error> {
        let map = self.ebpf.map_mut("cemark_config");
        let map = map.ok_or_else(|| Error::NoObject(self.scheme.to_owned()))?;
        Array::<_, [u64; CONFIG]>::try_from(map)
            .and_then(|mut config| config.set(0, words, 0))
            .map_err(|e| of_map(e, "to write the configuration"))
    }

    pub(crate) fn queue(&self) -> Result<[u64; QUEUE], Error> {
        let map = self.ebpf.map("cemark_queue");
        let map = map.ok_or_else(|| Error::NoObject(self.scheme.to_owned()))?;
        Array::<_, [u64; QUEUE]>::try_from(map)
            .and_then(|queue| queue.get(&0, LOCKED))
            .map_err(|e| of_map(e, "to read the virtual queue"))
    }
}

/// The maps of a program that is loaded, perhaps by another process.
pub(crate) struct Maps {
    config: Array<MapData, [u64; CONFIG]>,
    queue: Array<MapData, [u64; QUEUE]>,
}

/// Whose a program is. Everybody may call a program `cemark`, so its maps say.
pub(crate) enum Owner {
    /// This version's.
    Ours(Box<Maps>),
    /// Another version's of cemark: its maps have our names and another size.
    Stranger,
    /// Somebody else's.
    Foreign,
}

impl Owner {
    /// Owner of the program with this number.
    pub(crate) fn of(program: u32) -> Result<Owner, Error> {
        let what = "to look for the program";
        let of_program = |e: ProgramError| Error::system(what)(cause(e.into()));
        let info = loaded_programs().find(|p| p.as_ref().is_ok_and(|p| p.id() == program));
        let Some(info) = info else {
            // Without privileges there is nothing to be seen.
            return match loaded_programs().next() {
                Some(Err(e)) => Err(of_program(e)),
                _ => Ok(Owner::Foreign),
            };
        };
        let ids = info.and_then(|p| p.map_ids()).map_err(of_program)?;
        let (mut config, mut queue) = (None, None);
        for id in ids.unwrap_or_default() {
            let info = MapInfo::from_id(id).map_err(|e| of_map(e, what))?;
            let is = |name| info.name_as_str() == Some(name);
            if is("cemark_config") {
                config = Some(open(id, what)?);
            } else if is("cemark_queue") {
                queue = Some(open(id, what)?);
            }
        }
        Ok(match (config, queue) {
            (Some(Some(config)), Some(Some(queue))) => {
                Owner::Ours(Box::new(Maps { config, queue }))
            }
            (Some(_), Some(_)) => Owner::Stranger,
            _ => Owner::Foreign,
        })
    }
}

/// The names of the `tcx` programs that see what a device sends. None where the kernel has no
/// `tcx`, or does not let this process look.
pub(crate) fn tcx_programs(device: &str) -> Vec<String> {
    let asked = SchedClassifier::query_tcx(device, TcAttachType::Egress);
    let programs = asked.map_or_else(|_| Vec::new(), |(_, programs)| programs);
    let name = |p: &aya::programs::ProgramInfo| p.name_as_str().unwrap_or("").to_owned();
    programs.iter().map(name).collect()
}

impl Maps {
    pub(crate) fn config(&self) -> Result<[u64; CONFIG], Error> {
        let read = self.config.get(&0, 0);
        read.map_err(|e| of_map(e, "to read the configuration"))
    }

    pub(crate) fn set_config(&mut self, words: &[u64; CONFIG]) -> Result<(), Error> {
        let written = self.config.set(0, words, 0);
        written.map_err(|e| of_map(e, "to write the configuration"))
    }

    pub(crate) fn queue(&self) -> Result<[u64; QUEUE], Error> {
        let read = self.queue.get(&0, LOCKED);
        read.map_err(|e| of_map(e, "to read the virtual queue"))
    }
}

/// A map of values of `N` words. `None` where they have another size.
fn open<const N: usize>(
    id: u32,
    what: &'static str,
) -> Result<Option<Array<MapData, [u64; N]>>, Error> {
    let map = MapData::from_id(id).map_err(|e| of_map(e, what))?;
    match Array::try_from(Map::Array(map)) {
        Ok(array) => Ok(Some(array)),
        Err(MapError::InvalidValueSize { .. } | MapError::InvalidMapType { .. }) => Ok(None),
        Err(e) => Err(of_map(e, what)),
    }
}

/// The file descriptor of the live program.
pub(crate) fn attach(object: &mut Object, device: &crate::netlink::Device) -> Result<(), Error> {
    let program = object.load(LIVE)?;
    let fd = program
        .fd()
        .map_err(|e| Error::system("to attach the program")(cause(e.into())))?;
    match device.add_filter(fd.as_fd()) {
        // ENOENT, EOPNOTSUPP
        Err(e) if matches!(e.raw_os_error(), Some(2 | 95)) => Err(Error::Lacks {
            what: "BPF classifier (CONFIG_NET_CLS_BPF)",
        }),
        done => done.map_err(Error::system("to attach the program")),
    }
}

pub(crate) fn of_map(e: MapError, what: &'static str) -> Error {
    Error::system(what)(cause(EbpfError::MapError(e)))
}

/// The error of the kernel below an error of the library.
pub(crate) fn cause(e: EbpfError) -> io::Error {
    let mut below: Option<&(dyn std::error::Error + 'static)> = Some(&e);
    while let Some(error) = below {
        if let Some(code) = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::raw_os_error)
        {
            return io::Error::from_raw_os_error(code);
        }
        below = error.source();
    }
    io::Error::other(e.to_string())
}

/// Turns an error while an object is loaded into an error of this crate.
fn explain(e: EbpfError, scheme: &str) -> Error {
    let log = match &e {
        EbpfError::ProgramError(ProgramError::LoadError { verifier_log, .. }) => {
            verifier_log.to_string()
        }
        _ => String::new(),
    };
    let lines: Vec<&str> = log.lines().collect();
    let last = &lines[lines.len().saturating_sub(LINES)..];
    match Error::system("to load the program")(cause(e)) {
        // The verifier says EACCES as well. Only it writes a log.
        _ if !last.is_empty() => Error::Refused {
            scheme: scheme.to_owned(),
            why: last.join("\n"),
        },
        Error::System { source, .. } if source.raw_os_error() == Some(38) => Error::Lacks {
            what: "BPF (CONFIG_BPF_SYSCALL)",
        },
        other => other,
    }
}
