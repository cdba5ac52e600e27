// SPDX-License-Identifier: MIT OR Apache-2.0
//! A marker of the user's own beside the schemes of a scenario.

use cemark_marking::{SchemeSpec, Values, catalogue};
use cemark_sim::config::MarkerChoice;

use crate::digest::{Digest, canonical};
use crate::error::{Error, fold};
use crate::plan::{Plan, Point};
use crate::read::digest;

impl Plan {
    /// Adds a scheme called `label` to every cell, whose marker `choice` makes from parameters.
    /// Everything but the marker is as for the scheme that it replaces: the one of the file
    /// that marks as `scheme` does, or else the first.
    ///
    /// The parameters are those of the file where it has the scheme, the catalogue's defaults where
    /// it has not, and all zero for a marker that is not of the catalogue. `content` is what the
    /// marker is made of: a point of other content is another point.
    ///
    /// # Errors
    ///
    /// Where the file has a scheme of this label already.
    pub fn add_marker(
        &mut self,
        label: &str,
        scheme: Option<&str>,
        content: &[u8],
        choice: &mut dyn FnMut(&Values) -> MarkerChoice,
    ) -> Result<(), Error> {
        if self.schemes.iter().any(|l| fold(l) == fold(label)) {
            return Err(Error::whole(
                label,
                "two schemes are labelled so",
                Some("rename the file, or the label in the scenario".to_owned()),
            ));
        }
        let spec = scheme.and_then(|name| catalogue::ALL.iter().find(|s| s.name == name).copied());
        let seeds = self.seeds();
        let mut points = Vec::with_capacity(self.points.len());
        for cell in self.points.chunks(seeds * self.schemes.len()) {
            points.extend_from_slice(cell);
            let like = cell
                .chunks(seeds)
                .find(|of_scheme| spec.is_some_and(|s| values(s, &of_scheme[0]).is_some()))
                .unwrap_or(&cell[..seeds]);
            for point in like {
                let params = spec.map_or(Values([0; _]), |s| {
                    values(s, point).unwrap_or_else(|| Values::defaults(s))
                });
                points.push(stand_in(point, label, content, &params, choice(&params)));
            }
        }
        self.points = points;
        self.schemes.push(label.to_owned());
        self.digest = digest(self.baseline, &self.points, self.precision.is_some());
        self.source += &format!("\n# and beside the schemes above: --marker {label}\n");
        Ok(())
    }

    /// Points of one cell and scheme: how many seeds there are.
    fn seeds(&self) -> usize {
        let same = |p: &&Point| p.axes == self.points[0].axes && p.scheme == self.points[0].scheme;
        self.points.iter().take_while(same).count()
    }
}

/// The parameters of the scheme where it is the point's.
fn values(spec: &SchemeSpec, point: &Point) -> Option<Values> {
    match &point.config.switch.marker {
        MarkerChoice::Builtin { scheme, values } if scheme.name == spec.name => Some(*values),
        _ => None,
    }
}

fn stand_in(
    like: &Point,
    label: &str,
    content: &[u8],
    params: &Values,
    marker: MarkerChoice,
) -> Point {
    let mut point = like.clone();
    // Parameters of the scheme that it replaces, which it does not read, make no difference.
    point.config.switch.marker = MarkerChoice::None;
    point.config.retunes.clear();
    let rest = Digest::new().word(&canonical(&point.config)).finish();
    point.config.switch.marker = marker;
    label.clone_into(&mut point.scheme);
    let from = |digest: u64, label: &str| {
        let begun = Digest::new().number(digest).word(label).bytes(content);
        params.0.iter().fold(begun, |d, v| d.number(*v)).finish()
    };
    point.digest = from(like.digest, label);
    point.simulation = from(rest, label);
    point
}
