# SPDX-License-Identifier: GPL-2.0
"""check.py FILE ROWS: what `cemark testbed run --format json` printed, row by row. Fails where one
of ROWS, a list with commas of how their names begin, differs from the simulator by more than twice
its bound, or is not there."""

import json
import sys

path, wanted = sys.argv[1], sys.argv[2].split(",")
tables = json.load(open(path, encoding="utf-8"))
wrong = [] if tables else ["no table"]
for table in tables:
    for name in wanted:
        rows = [r for r in table["rows"] if r["name"].startswith(name) and r["bound"]]
        if not rows:
            wrong.append(f"{table['title']}: no row {name}")
        for row in rows:
            shown = " and ".join(row["shown"])
            line = f"{table['title']}: {row['name']}: {shown}, {row['percent']:+.1f} %"
            print(line)
            if not abs(row["percent"]) <= 2 * row["bound"]:
                wrong.append(f"{line}, more than twice {row['bound']:.0f} %")
if wrong:
    sys.exit("simulator and Linux differ:\n" + "\n".join(wrong))
