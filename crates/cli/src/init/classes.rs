// SPDX-License-Identifier: MIT OR Apache-2.0
//! The part of a scenario with traffic classes: flows, transports, queues and schemes by class.

use minijinja::{Value, context};

use super::answers::{CNP, Class, NOTIFICATIONS, Per};
use super::parts::Parts;
use super::rtts::Numbers;
use crate::quantity::{length, time};
use crate::template::quoted;
use crate::thresholds::{Base, Curve, Ports, curves};

/// Label of the scheme that follows from the rules.
pub(crate) const BY_RULE: &str = "by rule";
/// First queue of lossless classes: 3, as SONiC's default maps have it.
const LOSSLESS: usize = 3;

/// A scheme of the scenario: its label, a curve for each class.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    pub label: String,
    pub comment: String,
    pub curves: Vec<Curve>,
}

impl Parts<'_> {
    /// Whether the class has a lossless queue.
    fn is_lossless(&self, class: &Class) -> bool {
        class.is_roce() && self.answers.buffer.per == Per::Switch
    }

    /// The curves for a class, the choice first.
    pub(crate) fn curves(&self, class: &Class, rtt: &Numbers) -> Vec<Curve> {
        // A queue stops at alpha / (1 + alpha) of a pool that is free otherwise: half at alpha 1, a
        // ninth at 1/8. The threshold of a host's port leaves room for a second queue, and that of
        // an uplink, which is longer by the rate, fits.
        let queue = match (self.answers.buffer.per, self.is_lossless(class)) {
            (Per::Port, _) => self.buffer,
            (Per::Switch, false) => self.buffer / 2,
            (Per::Switch, true) => self.buffer / 9,
        };
        let rate = self.answers.rate;
        let fastest = rate.max(self.answers.uplink.unwrap_or(rate));
        let uplink = (u128::from(queue) * u128::from(rate) / u128::from(fastest)) as u64;
        let most = (queue / 2).min(uplink);
        let base = Base {
            mean: rtt.mean,
            tail: rtt.tail,
        };
        let ports = Ports {
            rate: self.answers.rate,
            most,
            cell: self.cell(),
        };
        curves(class.control, base, ports)
    }

    /// The scheme by the rules.
    pub(crate) fn by_rule(&self, rtt: &Numbers) -> Bound {
        let classes = self.answers.classes.iter();
        Bound {
            label: BY_RULE.to_owned(),
            comment: "cemark advise prints the other rules".to_owned(),
            curves: classes
                .map(|c| self.curves(c, rtt).swap_remove(0))
                .collect(),
        }
    }

    /// Queues by class: lossless ones from 3 on, the others in what is left of 0 to 5.
    fn queues(&self) -> Vec<usize> {
        let classes = &self.answers.classes;
        let lossless = |class: &&Class| self.is_lossless(class);
        let n = classes.iter().filter(lossless).count();
        let first = LOSSLESS.min(6 - n);
        let mut high = first..first + n;
        let mut low = (0..first).chain(first + n..6);
        let all = classes.iter().map(|class| match self.is_lossless(class) {
            true => high.next(),
            false => low.next(),
        });
        all.map(|queue| queue.unwrap_or_default()).collect()
    }

    /// The values of the template. `preset`: the published set that is compared with; `schemes`
    /// follow it.
    pub(super) fn of_classes(
        &self,
        preset: Option<&str>,
        schemes: &[Bound],
        today: Option<&str>,
    ) -> Value {
        let (answers, extent) = (self.answers, &self.extent);
        let n = answers.classes.len() as u64;
        let queues = self.queues();
        let classes = answers.classes.iter().zip(queues).map(|(class, queue)| {
            context! {
                name => class.name.clone(),
                dscps => format!("{:?}", class.dscps),
                roce => class.is_roce(),
                lossless => self.is_lossless(class),
                queue => queue,
                load => (answers.load / n as f64 * 1e4).round() / 1e4,
                flows => extent.flows.div_ceil(n),
                warmup => extent.warmup.div_ceil(n),
            }
        });
        let classes: Vec<Value> = classes.collect();
        let published = preset.map(|preset| {
            context! {
                label => quoted(&format!("{preset}, as published")),
                comment => "a published set in every class",
                preset => preset,
            }
        });
        let own = schemes.iter().map(|scheme| {
            let curves = answers.classes.iter().zip(&scheme.curves);
            let curves = curves.map(|(class, curve)| {
                context! {
                    class => class.name.clone(),
                    name => curve.name.clone(),
                    source => curve.source.clone(),
                    low => length(curve.low),
                    high => length(curve.high),
                    percent => format!("{}%", curve.height as f64 / 10.0),
                }
            });
            context! {
                label => quoted(&scheme.label),
                comment => scheme.comment.clone(),
                preset => false,
                by_rate => scheme.curves.iter().all(|c| c.by_rate) && answers.uplink.is_some(),
                curves => curves.collect::<Vec<Value>>(),
            }
        });
        let tcp = answers.classes.iter().find(|class| !class.is_roce());
        let has = |is: &dyn Fn(&Class) -> bool| answers.classes.iter().any(is);
        context! {
            classes => classes,
            schemes => published.into_iter().chain(own).collect::<Vec<Value>>(),
            today => today,
            lossless => has(&|class| self.is_lossless(class)),
            roce => has(&Class::is_roce),
            notifications => NOTIFICATIONS,
            cnp => CNP,
            sample => time(10_000_000),
            tcp => tcp.is_some(),
            control => tcp.map_or("dctcp", |class| class.control),
        }
    }
}
