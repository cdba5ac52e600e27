#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# What `cemark export --as sonic` writes, against SONiC's own YANG models in CEMARK_SONIC_YANG
# (sonic-buildimage, src/sonic-yang-models, made for Python), and tables with a mistake, which the
# models must refuse.
set -euo pipefail
cd "$(dirname "$0")/.."
models=$(realpath "${CEMARK_SONIC_YANG:?set it to the directory of the models}")
[ -n "${CEMARK:-}" ] || cargo build --release --locked --quiet
cemark=${CEMARK:-$PWD/target/release/cemark}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo "models: $(ls "$models" | wc -l) of SONiC, $(cat "$models"/*.yang | sha256sum | cut -c1-16)"
cat > ports.json <<'END'
{ "PORT": { "Ethernet0": { "lanes": "1,2,3,4", "speed": "25000", "alias": "etp1" },
            "Ethernet4": { "lanes": "5,6,7,8", "speed": "100000", "alias": "etp2" } } }
END
"$cemark" advise --rate 25G --uplink 100G --rtt p50=12us,p99=95us --class storage:dcqcn:26 \
    --class rest:dctcp --rules --write classes.toml >> said.txt 2>&1
"$cemark" advise --rate 25G --rtt 20us..120us --rules --write one.toml >> said.txt 2>&1

failed=0
# validate WANTED NAME FILE...: `accepted` or `refused`.
validate() {
    local wanted=$1 name=$2 code=0 is
    shift 2
    "$cemark" doctor ports.json "$@" --yang "$models" > answer.txt 2>&1 || code=$?
    is=accepted
    grep -q '^error\[yang\]' answer.txt && is=refused
    [ $code -le 1 ] || is="code $code"
    printf '%-9s %s\n' "$is" "$name"
    [ "$is" = accepted ] || grep -A1 '^error\[yang\]' answer.txt | head -4 || true
    [ "$is" = "$wanted" ] || failed=1
}
export_of() {
    "$cemark" export "$@" --as sonic --ports Ethernet0,Ethernet4 --out made.json --force \
        >> said.txt 2>&1
}

for schema in legacy ecn; do
    export_of classes.toml --scheme "by rule" --sonic-schema $schema
    validate accepted "two classes, schema $schema" made.json
done
for rate in 100G 2.5G; do
    export_of classes.toml --scheme "by rule" --rate $rate
    validate accepted "two classes, ports of $rate" made.json
done
export_of one.toml --scheme "by rule"
validate accepted "one class" made.json
for label in DCTCP-RED-Tail TCN ECN#; do
    export_of rtt-variation --scheme $label
    validate accepted "rtt-variation, $label" made.json
done
export_of classes.toml --scheme "by rule"
cp made.json whole.json
mistake() {
    sed "s/$2/$3/" whole.json > wrong.json
    ! cmp -s whole.json wrong.json
    validate refused "$1" wrong.json
}
mistake "a threshold that is no number" '"green_min_threshold": "[0-9]*"' \
    '"green_min_threshold": "abc"'
mistake "an unknown field" green_min_threshold green_mid_threshold
mistake "DSCP 64" '"63": ' '"64": '
mistake "a probability of 101 %" '"green_drop_probability": "[0-9]*"' \
    '"green_drop_probability": "101"'
mistake "a profile that is not there" '"wred_profile": "CEMARK_3"' '"wred_profile": "CEMARK_9"'
mistake "PFC of priority 9" '"pfc_enable": "3"' '"pfc_enable": "9"'
exit $failed
