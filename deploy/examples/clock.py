"""Counts and sums of steps by the clock (ORIEL_STEP), and of each day or other interval of whole steps, with the
deviations of their noise, in pandas. `oriel numbers` has the exact intervals besides.

    oriel tail --topic hourly.descriptor --raw --follow=false > names.json
    oriel tail --topic hourly.decisions --raw --from-beginning --follow=false | python3 clock.py names.json [MS]
"""
import sys

import descriptor
sys.path.pop(0)  # else numbers.py beside this file would hide Python's own
import numpy as np
import pandas as pd

names = descriptor.read("clock.py names.json [MS]")
every = int(sys.argv[2]) if len(sys.argv) > 2 else 86_400_000

# A decision has the end of its step as time, and the numbers of all cells for each statistic.
d = pd.read_json(sys.stdin, lines=True, dtype=False)
steps = pd.concat(
    pd.DataFrame({
        "begin": (d["time"] - 1000 * d["seconds"]) // every * every, "cell": cell, "statistic": statistic,
        "value": d["decision"].str[s * len(names["cells"]) + c], "variance": d[statistic + "_deviation"].str[0] ** 2,
    })
    for s, statistic in enumerate(names["statistics"]) if statistic in ("count", "sum")
    for c, cell in enumerate(names["cells"]))
sums = steps.groupby(["begin", "cell", "statistic"]).agg(
    value=("value", "sum"), deviation=("variance", lambda v: np.sqrt(v.sum())), steps=("value", "size")).reset_index()
sums["begin"] = pd.to_datetime(sums["begin"], unit="ms").dt.strftime("%Y-%m-%dT%H:%M:%SZ")
sums.to_csv(sys.stdout, index=False, header=False)
