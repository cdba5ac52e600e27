#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Builds the wheel, installs it into a virtual environment outside of the checkout, checks the types
# and runs the tests. CEMARK_VENV is that environment (default: ~/.cache/cemark/python); pip fetches
# what it lacks.
#   python/test.sh                      the wheel, types, tests, the notebooks
#   python/test.sh --without-notebooks  leaves those out: docs/site/build.sh runs them as well
#   python/test.sh ray                  the wheel, and 2,000 points on a Ray cluster that loses a
#                                       node
set -euo pipefail
cd "$(dirname "$0")"
venv=${CEMARK_VENV:-$HOME/.cache/cemark/python}
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
	{ echo "python3 of version 3.11 or later is needed"; exit 1; }
python3 -c 'import ensurepip, venv' ||
	{ echo "python3 has no venv (on Debian: apt install python3-venv)"; exit 1; }
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check -r tests/requirements.txt
wheels=$(mktemp -d)
trap 'rm -rf "$wheels"' EXIT
# The profile and the features of the tests: with every debug assertion, and compiled already.
features() { cargo tree --locked "$@" --prefix none -f '{p} [{f}]' | sed 's/ (\*)//' | sort -u; }
features -p cemark-python --features as-tested -e normal,build >"$wheels/package"
features --workspace -e normal,build,dev >"$wheels/workspace"
unlike=$(comm -23 "$wheels/package" "$wheels/workspace" | grep -v '^cemark-python ' || true)
[ -z "$unlike" ] || {
	echo "python/Cargo.toml: as-tested lacks features that the workspace's tests have, so that these"
	echo "and all that use them are compiled again: $unlike"
	exit 1
}
VIRTUAL_ENV=$venv "$venv/bin/maturin" build --quiet --profile dev --strip --locked \
	--features as-tested --out "$wheels" --interpreter "$venv/bin/python"
"$venv/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps \
	"$wheels"/cemark-*-abi3-*.whl
if [ "${1:-}" = ray ]; then
	# Ray repeats here what its processes said when they were killed: pages of its internals.
	for how in '2000' '200 --head'; do
		RAY_COLOR_PREFIX=0 "$venv/bin/python" tests/ray_cluster.py $how --alone |
			grep -v -e '^(raylet)' -e '^    \[' -e '^$'
	done
	exit
fi
"$venv/bin/mypy" --cache-dir "$wheels/mypy"
"$venv/bin/pyright" --pythonpath "$venv/bin/python"
# From another folder: the package that is tested is the one that is installed.
here=$PWD
cd "$wheels"
unset PYTHONPATH
left_out=()
[ "${1:-}" != --without-notebooks ] || left_out=(--ignore "$here/tests/test_notebooks.py")
"$venv/bin/python" -m pytest -q -p no:cacheprovider -o testpaths= --durations 20 "${left_out[@]}" \
	"$here/tests"
