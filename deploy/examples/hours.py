"""Counts and sums of values by cell and hour, and of all cells together, with the deviations of their noise, in pandas:
what `oriel numbers --every 1h --total --statistic count,sum` prints. It wants ORIEL_INCREMENTS=true and the steps of an
hour in one piece, as they are where timestamps rise.

    oriel tail --topic delays.descriptor --raw --follow=false > names.json
    oriel tail --topic delays.decisions --raw --follow=false | python3 hours.py names.json
"""
import sys

import descriptor
sys.path.pop(0)  # else numbers.py beside this file would hide Python's own
import numpy as np
import pandas as pd

names = descriptor.read("hours.py names.json [MS]")
every = int(sys.argv[2]) if len(sys.argv) > 2 else 3_600_000
cells, unit = len(names["cells"]), names["increment_deviations"]
low, high = names["value"]["low"], names["value"]["high"]
middle, half = (high + low) / 2, (high - low) / 2


def variance(table, steps):
    """Of a count over so many steps: table[i] is the deviation of 2^i; straight in logarithms between them."""
    at, known = np.log2(steps), np.log(table)
    beyond = max(0, at - len(known) + 1)
    return np.exp(2 * np.interp(at, range(len(known)), known)) * 2**beyond


d = pd.read_json(sys.stdin, lines=True, dtype=False)
d["k"] = d["time"] // every
parts = d.groupby(["k", "stream", "incarnation"]).agg(n=("step", "size"), table=("window_deviation", "first"))
parts["v"] = [variance(p.table, p.n * names["emit_every"]) for p in parts.itertuples()]
noise = parts.groupby("k")["v"].sum()
sums = pd.DataFrame(np.array(d["increments"].tolist())[:, : 2 * cells]).groupby(d["k"]).sum()
for k, row in sums.iterrows():
    n, x = row.values[:cells], row.values[cells:]
    for cell, a, b, many in [*zip(names["cells"], n, x, [1] * cells), ("all", n.sum(), x.sum(), cells)]:
        s = np.sqrt(noise[k] * many)
        start = pd.Timestamp(k * every, unit="ms").strftime("%Y-%m-%dT%H:%M:%SZ")
        print(start, cell, a, s * unit[0], middle * a + half * b, s * np.hypot(middle * unit[0], half * unit[1]), sep=",")
