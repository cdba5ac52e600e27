// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program of a device.

use std::io;

use crate::Error;
use crate::fit::fits;
use crate::kernel::{Maps, Object, Owner, attach, tcx_programs};
use crate::layout::{Config, Counts, Settings};
use crate::netlink::{Device, Filter, Hooks, PRIORITY};

/// The program that marks the packets of a device.
pub struct Program {
    name: String,
    maps: Maps,
    config: Config,
}

fn open(name: &str) -> Result<Device, Error> {
    Device::open(name).map_err(|e| match e.raw_os_error() {
        // ENODEV, ENXIO
        Some(19 | 6) => Error::NoDevice(name.to_owned()),
        _ => Error::system("to open a netlink socket")(e),
    })
}

fn egress(device: &Device) -> Result<Vec<Filter>, Error> {
    device.egress().map_err(Error::system("to list filters"))
}

fn hooks(device: &Device) -> Result<Hooks, Error> {
    device.hooks().map_err(Error::system("to list qdiscs"))
}

/// Our filter, and whether its program is this version's (`None`: another version's).
fn ours(device: &Device) -> Result<Option<(Filter, Option<Maps>)>, Error> {
    for filter in egress(device)? {
        let Some(program) = filter.program.filter(|_| filter.is_called_ours()) else {
            continue;
        };
        match Owner::of(program)? {
            Owner::Ours(maps) => return Ok(Some((filter, Some(*maps)))),
            Owner::Stranger => return Ok(Some((filter, None))),
            Owner::Foreign => {}
        }
    }
    Ok(None)
}

/// A filter or program that sees the packets of a device before ours, and may keep them from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Earlier {
    /// A filter of traffic control. A packet that it matches reaches our program only if the
    /// filter's action is `continue`, or its program returns TC_ACT_UNSPEC.
    Filter {
        /// Priority of the filter, smaller than ours.
        priority: u32,
        /// `bpf`, `u32`, `flower`, …
        kind: String,
        /// The names of the BPF programs of a filter `bpf`.
        names: Vec<String>,
    },
    /// A `tcx` program. A packet reaches our program only if this one returns TCX_NEXT.
    Tcx {
        /// Name of the program.
        name: String,
    },
}

/// Filters and programs before ours on a device. CAP_SYS_ADMIN is needed to find a `tcx` program.
///
/// # Errors
///
/// Where there is no such device, or the kernel refuses.
pub fn earlier(name: &str) -> Result<Vec<Earlier>, Error> {
    let device = open(name)?;
    let mut all: Vec<Earlier> = tcx_programs(name)
        .into_iter()
        .map(|name| Earlier::Tcx { name })
        .collect();
    if hooks(&device)? != Hooks::Clsact {
        return Ok(all);
    }
    for filter in egress(&device)? {
        let at = filter.priority();
        // The list of a priority begins with an entry that has no name. A program that somebody
        // adds at our priority comes before ours.
        if at > PRIORITY || (at == PRIORITY && (filter.name.is_none() || filter.is_called_ours())) {
            continue;
        }
        let same =
            |e: &&mut Earlier| matches!(e, Earlier::Filter { priority, .. } if *priority == at);
        if let Some(Earlier::Filter { names, .. }) = all.iter_mut().find(same) {
            names.extend(filter.name);
        } else {
            all.push(Earlier::Filter {
                priority: at,
                kind: filter.kind,
                names: filter.name.into_iter().collect(),
            });
        }
    }
    Ok(all)
}

impl Program {
    /// Puts a new program on a device. `seed` determines the random bits of packets.
    ///
    /// # Errors
    ///
    /// Where there is no such device, it has a program of cemark, or the kernel refuses. Then
    /// nothing is left behind.
    ///
    /// # Panics
    ///
    /// Where a virtual queue cannot serve the scheme: ask [`fits`] first.
    pub fn attach(name: &str, settings: &Settings, seed: u64) -> Result<(), Error> {
        assert!(
            fits(settings.scheme, &settings.values, &settings.queue()).is_ok(),
            "{} does not fit a virtual queue",
            settings.scheme.name
        );
        let device = open(name)?;
        let named = || name.to_owned();
        if let Some((_, maps)) = ours(&device)? {
            let config = maps.map(|m| m.config()).transpose()?;
            let scheme = config.and_then(|words| Config::of(&words));
            let scheme = scheme
                .map_or("cemark", |c| c.settings.scheme.title)
                .to_owned();
            let device = named();
            return Err(Error::Taken { device, scheme });
        }
        match hooks(&device)? {
            Hooks::Free | Hooks::Clsact => {}
            Hooks::Ingress => return Err(Error::Ingress(named())),
            Hooks::Block(block) => {
                let device = named();
                return Err(Error::SharedBlock { device, block });
            }
        }
        if let Some(other) = egress(&device)?.iter().find(|f| f.priority() == PRIORITY) {
            return Err(Error::PriorityTaken {
                device: named(),
                priority: PRIORITY,
                kind: other.kind.clone(),
            });
        }
        let mut object = Object::open(settings.scheme.name)?;
        let own_clsact = device.add_clsact().map_err(|e| match e.raw_os_error() {
            // ENOENT, EOPNOTSUPP
            Some(2 | 95) => Error::Lacks {
                what: "clsact qdisc (CONFIG_NET_SCH_INGRESS)",
            },
            _ => Error::system("to add a clsact qdisc")(e),
        })?;
        let config = Config {
            settings: *settings,
            seed,
            generation: 1,
            own_clsact,
        };
        let done = object
            .configure(&config.words())
            .and_then(|()| attach(&mut object, &device));
        if done.is_err() && own_clsact {
            // The first error is the one to report.
            let _ = device.remove_clsact();
        }
        done
    }

    /// The program of a device.
    ///
    /// # Errors
    ///
    /// Where there is no such device, or no program of cemark on it.
    pub fn on(name: &str) -> Result<Program, Error> {
        let device = open(name)?;
        let (_, maps) = ours(&device)?.ok_or_else(|| Error::NotAttached(name.to_owned()))?;
        if hooks(&device)? == Hooks::Ingress {
            return Err(Error::Received(name.to_owned()));
        }
        let stranger = || Error::Stranger(name.to_owned());
        let maps = maps.ok_or_else(stranger)?;
        let config = Config::of(&maps.config()?).ok_or_else(stranger)?;
        Ok(Program {
            name: name.to_owned(),
            maps,
            config,
        })
    }

    /// The device.
    pub fn device(&self) -> &str {
        &self.name
    }

    /// The settings in force.
    pub fn settings(&self) -> &Settings {
        &self.config.settings
    }

    /// Counts of the program since it was attached.
    ///
    /// # Errors
    ///
    /// Where the kernel refuses.
    pub fn counts(&self) -> Result<Counts, Error> {
        Ok(Counts::of(&self.maps.queue()?))
    }

    /// Changes parameters, rate, limit and policy. The scheme and its state stay; no packet is
    /// judged by half of a change.
    ///
    /// # Errors
    ///
    /// Where the kernel refuses.
    ///
    /// # Panics
    ///
    /// Where the scheme is another one, or does not fit a virtual queue with these parameters.
    pub fn retune(&mut self, settings: &Settings) -> Result<(), Error> {
        assert_eq!(settings.scheme.name, self.config.settings.scheme.name);
        assert!(
            fits(settings.scheme, &settings.values, &settings.queue()).is_ok(),
            "{} does not fit a virtual queue",
            settings.scheme.name
        );
        self.config.settings = *settings;
        // The program does not look at the rest before the generation changes.
        self.maps.set_config(&self.config.words())?;
        self.config.generation += 1;
        self.maps.set_config(&self.config.words())
    }

    /// Takes the program off a device, also one of another version of cemark; and the `clsact`
    /// qdisc where `attach` has made it and nothing else uses it.
    ///
    /// # Errors
    ///
    /// Where there is no such device, no program of cemark on it, or the kernel refuses.
    pub fn detach(name: &str) -> Result<(), Error> {
        let device = open(name)?;
        let (filter, maps) = ours(&device)?.ok_or_else(|| Error::NotAttached(name.to_owned()))?;
        let config = maps.map(|m| m.config()).transpose()?;
        let own_clsact = config
            .and_then(|words| Config::of(&words))
            .is_some_and(|c| c.own_clsact);
        remove(&device, &filter, own_clsact).map_err(Error::system("to detach the program"))
    }
}

fn remove(device: &Device, filter: &Filter, clsact: bool) -> io::Result<()> {
    device.remove_filter(filter)?;
    if clsact && !device.in_use()? {
        device.remove_clsact()?;
    }
    Ok(())
}
