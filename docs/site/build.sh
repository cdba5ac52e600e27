#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Builds the documentation as one site in target/site/html: every document of the repository, the
# Python package from its docstrings, and the notebooks, run. A broken link fails the build. The
# tools and the wheel are in a virtual environment outside of the checkout: CEMARK_SITE_VENV
# (default: ~/.cache/cemark/site); pip fetches what it lacks.
#   docs/site/build.sh                      the whole site
#   docs/site/build.sh --without-notebooks  without running them: seconds instead of a minute
#   CEMARK_SEEDS=2 docs/site/build.sh       with few points of the notebook that has thousands
#   python3 -m http.server -d target/site/html    read it at http://localhost:8000
set -euo pipefail
cd "$(dirname "$0")/../.."
venv=${CEMARK_SITE_VENV:-$HOME/.cache/cemark/site}
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
	{ echo "python3 of version 3.11 or later is needed"; exit 1; }
python3 -c 'import ensurepip, venv' ||
	{ echo "python3 has no venv (on Debian: apt install python3-venv)"; exit 1; }
command -v cargo >/dev/null || { echo "cargo, of a Rust toolchain, is needed"; exit 1; }
command -v cc >/dev/null || { echo "a C compiler (cc) is needed: a notebook compiles C"; exit 1; }
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check -r docs/site/requirements.txt
# As python/test.sh builds it.
wheels=$(mktemp -d)
trap 'rm -rf "$wheels"' EXIT
(cd python && VIRTUAL_ENV=$venv "$venv/bin/maturin" build --quiet --profile dev --strip --locked \
	--features as-tested --out "$wheels" --interpreter "$venv/bin/python")
"$venv/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps \
	"$wheels"/cemark-*-abi3-*.whl
"$venv/bin/python" docs/site/build.py target/site "$@"
