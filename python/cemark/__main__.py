# SPDX-License-Identifier: MIT OR Apache-2.0
"""The command ``cemark``: ``python -m cemark`` is the same."""

from __future__ import annotations

import sys

from . import _native


def main() -> int:
    """Runs the command line of this process and returns its exit code."""
    again = [sys.executable, "-m", "cemark"]
    return _native.main(sys.argv[1:], again)


if __name__ == "__main__":
    sys.exit(main())
