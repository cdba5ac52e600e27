// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rules on the form of a configuration: values, keys and operations that a platform refuses or
//! reads otherwise than they look.

use super::{Findings, Level, Rule};
use crate::model::Refused;
use crate::platforms::Fix;

pub(super) static MALFORMED: Rule = Rule {
    id: "CE13",
    name: "malformed-value",
    level: Level::Error,
    why: "A threshold with a blank, a unit or a letter is no number to the platform.",
    packets: "The platform drops the profile or the value, and packets meet the default of the \
              chip.",
    evidence: &[
        "github.com/sonic-net/sonic-buildimage/pull/25626: `\" 166912\"`",
        "sonic-yang-models sonic-wred-profile.yang: thresholds are uint64",
    ],
    find: |rule, switch, findings| {
        for value in &switch.malformed {
            let message = format!(
                "`{}` of {} {}",
                value.place.path, value.profile, value.mistake
            );
            let digits: String = value.written.chars().filter(char::is_ascii_digit).collect();
            let fix = Fix::Write(match digits.is_empty() {
                true => "write a whole number of bytes, or of percent".to_owned(),
                false => format!("write \"{digits}\" if this number of bytes or percent is meant"),
            });
            findings.add(rule, &value.place, &value.profile, message, &fix);
        }
    },
};

pub(super) static VOQ: Rule = Rule {
    id: "CE14",
    name: "voq-key",
    level: Level::Error,
    why: "A chassis with virtual output queues binds profiles to them, and their keys name host, \
          ASIC, port and queue; other switches know port and queue only.",
    packets: "The profile is bound to no queue in which packets wait.",
    evidence: &[
        "sonic-buildimage files/build_templates/qos_config.j2: keys where switch_type is voq",
        "sonic-yang-models sonic-queue.yang: VOQ_QUEUE_LIST",
        "github.com/sonic-net/sonic-buildimage/issues/20146",
    ],
    find: |rule, switch, findings| refused(rule, &switch.misplaced, findings),
};

pub(super) static PATCH: Rule = Rule {
    id: "CE16",
    name: "patch-refused",
    level: Level::Error,
    why: "`config apply-patch` of SONiC replaces three fields of one profile and changes nothing \
          else of a profile.",
    packets: "The patch is refused whole, and the switch marks as before.",
    evidence: &["sonic-utilities generic_config_updater/gcu_field_operation_validators.conf.json"],
    find: |rule, switch, findings| refused(rule, &switch.refused, findings),
};

fn refused(rule: &'static Rule, all: &[Refused], findings: &mut Findings) {
    for one in all {
        let fix = Fix::Write(one.instead.clone());
        findings.add(rule, &one.place, "", one.why.clone(), &fix);
    }
}
