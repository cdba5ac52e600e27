// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program of a device.

use std::io;

use crate::Error;
use crate::fit::fits;
use crate::kernel::{Maps, Object, attach};
use crate::layout::{Config, Counts, Settings};
use crate::netlink::{Device, Filter};

/// The program that marks the packets of a device.
pub struct Program {
    name: String,
    device: Device,
    filter: Filter,
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

fn filter(device: &Device) -> Result<Option<Filter>, Error> {
    device.filter().map_err(Error::system("to list filters"))
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
        if filter(&device)?.is_some() {
            let scheme = match Program::on(name) {
                Ok(program) => program.settings().scheme.title.to_owned(),
                Err(_) => "cemark".to_owned(),
            };
            let device = name.to_owned();
            return Err(Error::Taken { device, scheme });
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
        let filter = filter(&device)?.ok_or_else(|| Error::NotAttached(name.to_owned()))?;
        let stranger = || Error::Stranger(name.to_owned());
        let maps = Maps::of(filter.program)?.ok_or_else(stranger)?;
        let config = Config::of(&maps.config()?).ok_or_else(stranger)?;
        Ok(Program {
            name: name.to_owned(),
            device,
            filter,
            maps,
            config,
        })
    }

    /// The device.
    pub fn device(&self) -> &str {
        &self.name
    }

    /// What is set.
    pub fn settings(&self) -> &Settings {
        &self.config.settings
    }

    /// What it has counted.
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

    /// Takes the program off the device, and the `clsact` qdisc where `attach` has made it and
    /// nothing else uses it.
    ///
    /// # Errors
    ///
    /// Where the kernel refuses.
    pub fn detach(self) -> Result<(), Error> {
        remove(&self.device, &self.filter, self.config.own_clsact)
            .map_err(Error::system("to detach the program"))
    }

    /// Takes a program off that another version of cemark has attached. Its `clsact` qdisc stays.
    ///
    /// # Errors
    ///
    /// Where there is no such device, no program of cemark on it, or the kernel refuses.
    pub fn detach_stranger(name: &str) -> Result<(), Error> {
        let device = open(name)?;
        let filter = filter(&device)?.ok_or_else(|| Error::NotAttached(name.to_owned()))?;
        remove(&device, &filter, false).map_err(Error::system("to detach the program"))
    }
}

fn remove(device: &Device, filter: &Filter, clsact: bool) -> io::Result<()> {
    device.remove_filter(filter)?;
    if clsact && !device.in_use()? {
        device.remove_clsact()?;
    }
    Ok(())
}
