"""Counts and sums of values by cell and hour, and of all cells together, with the deviations of their noise, in pandas:
what `oriel numbers --every 1h --total --statistic count,sum` prints. It wants ORIEL_INCREMENTS=true, decisions that
publish increment_filter, and the steps of an hour in one piece, as they are where timestamps rise.

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


def energy(level, y, q, n):
    """The sum of (level + y·q^j)^2 over j < n."""
    def series(p):
        return -np.expm1(n * np.log(p)) / (1 - p)
    return level**2 * n + 2 * level * y @ series(q) + y @ series(np.outer(q, q)) @ y


def variance(filter, a, b):
    """Of the increments of the steps (a, b], in units of that of one: each holds draws of noise of its block, by filter."""
    period, m = int(filter[0]), len(filter) // 2
    q, r = np.array(filter[1 : m + 1]) / 2**30, np.array(filter[m + 1 :]) / 2**30
    x, v, one = r / (1 - q), 0, 1 + r @ (1 / (1 - np.outer(q, q))) @ r
    while b > a:
        start = (b - 1) // period * period
        low = max(a, start)
        v += energy(1 - x.sum(), x, q, b - low) + energy(0, x * (q ** (b - low) - 1), q, low - start)
        b = low
    return v / one


d = pd.read_json(sys.stdin, lines=True, dtype=False)
d["k"], d["one"] = d["time"] // every, d["window_deviation"].str[0]
parts = d.groupby(["k", "stream", "incarnation"]).agg(
    a=("step", "min"), b=("step", "max"), filter=("increment_filter", "first"), one=("one", "first"))
parts["v"] = [p.one**2 * variance(p.filter, p.a - names["emit_every"], p.b) for p in parts.itertuples()]
noise = parts.groupby("k")["v"].sum()
sums = pd.DataFrame(np.array(d["increments"].tolist())[:, : 2 * cells]).groupby(d["k"]).sum()
for k, row in sums.iterrows():
    n, x = row.values[:cells], row.values[cells:]
    for cell, a, b, many in [*zip(names["cells"], n, x, [1] * cells), ("all", n.sum(), x.sum(), cells)]:
        s = np.sqrt(noise[k] * many)
        start = pd.Timestamp(k * every, unit="ms").strftime("%Y-%m-%dT%H:%M:%SZ")
        print(start, cell, a, s * unit[0], middle * a + half * b, s * np.hypot(middle * unit[0], half * unit[1]), sep=",")
