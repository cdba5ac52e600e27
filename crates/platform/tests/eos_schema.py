#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Commands of EOS that `cemark export` writes, against Arista's schema: pyavd reads their values
as a structured configuration, validates it and renders the same commands.

    python3 crates/platform/tests/eos_schema.py CEMARK SCENARIO LABEL...

`cargo xtask proof eos` installs pyavd in a virtual environment and runs this file.
"""

import re
import subprocess
import sys

import pyavd

MARKS = re.compile(
    r"random-detect ecn minimum-threshold (\d+) (\w+) maximum-threshold (\d+) (\w+) "
    r"max-mark-probability (\d+) weight (\d+)"
)


def structured(text: str) -> dict:
    """The commands as a structured configuration."""
    profile: dict = {"name": "CEMARK", "uc_tx_queues": []}
    maps: list = []
    interfaces: list = []
    for line in text.splitlines():
        line = line.strip()
        if found := re.fullmatch(r"qos map dscp (.+ to traffic-class \d+)", line):
            maps.append(found[1])
        elif line == "qos trust dscp":
            profile["trust"] = "dscp"
        elif line == "priority-flow-control on":
            profile["priority_flow_control"] = {"enabled": True, "priorities": []}
        elif found := re.fullmatch(r"priority-flow-control priority (\d) no-drop", line):
            entry = {"priority": int(found[1]), "no_drop": True}
            profile["priority_flow_control"]["priorities"].append(entry)
        elif found := re.fullmatch(r"uc-tx-queue (\d)", line):
            queue = {"id": int(found[1]), "random_detect": {"ecn": {}}}
            profile["uc_tx_queues"].append(queue)
        elif found := MARKS.fullmatch(line):
            low, unit, high, other, probability, weight = found.groups()
            assert unit == other, line
            profile["uc_tx_queues"][-1]["random_detect"]["ecn"]["threshold"] = {
                "units": unit,
                "min": int(low),
                "max": int(high),
                "max_probability": int(probability),
                "weight": int(weight),
            }
        elif line == "random-detect ecn count":
            profile["uc_tx_queues"][-1]["random_detect"]["ecn"]["count"] = True
        elif found := re.fullmatch(r"interface (\S+)", line):
            interfaces.append({"name": found[1], "service_profile": "CEMARK"})
        elif line not in ("", "qos profile CEMARK", "service-profile CEMARK"):
            assert line.startswith("!"), f"an unknown command: {line}"
    config = {
        "hostname": "leaf1",
        "qos_profiles": [profile],
        "ethernet_interfaces": interfaces,
    }
    if maps:
        config["qos"] = {"map": {"dscp": maps}}
    return config


def commands(text: str) -> list:
    """Commands without comments, in order of their text: pyavd has an order of its own."""
    lines = (line.rstrip() for line in text.splitlines())
    return sorted(line for line in lines if line and not line.lstrip().startswith("!"))


def main() -> None:
    cemark, scenario, *labels = sys.argv[1:]
    print(f"pyavd {pyavd.__version__}")
    for label in labels:
        run = [cemark, "export", scenario, "--scheme", label, "--as", "eos"]
        text = subprocess.run(run, check=True, capture_output=True, text=True).stdout
        config = structured(text)
        # Raises nothing: its result lists what the schema refuses.
        result = pyavd.validate_structured_config(config).validation_result
        assert not list(result.violations), list(result.violations)
        rendered = [c for c in commands(pyavd.get_device_config(config)) if "hostname" not in c]
        assert commands(text) == rendered, f"{label}:\n{text}\n{rendered}"
        print(f"{label}: {len(rendered)} commands as pyavd renders them")


if __name__ == "__main__":
    main()
