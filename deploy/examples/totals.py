"""Adds the newest numbers of all partitions up. Streams have events of their own and noise of their own, so that both
values and variances add up: counts and sums, and from them a mean, whose interval numbers of one stream have alone.

    oriel tail --topic delays.descriptor --raw --follow=false > names.json
    oriel tail --topic delays.decisions --raw --follow=false | python3 totals.py names.json

prints statistic, memory, cell, the total, and the standard deviation of its noise.
"""
import json
import math
import sys

import descriptor

names = descriptor.read("totals.py names.json")
newest = {}
for line in sys.stdin:
    d = json.loads(line)
    newest[d["stream"]] = d

cells, statistics = names["cells"], names["statistics"]
for v, view in enumerate(names["views"]):
    totals = {}
    for s, statistic in enumerate(statistics):
        if statistic not in ("count", "sum"):
            continue
        noise = math.hypot(*(d[statistic + "_deviation"][v] for d in newest.values()))
        at = (v * len(statistics) + s) * len(cells)
        totals[statistic] = [sum(d["decision"][at + c] for d in newest.values()) for c in range(len(cells))]
        for cell, total in zip(cells, totals[statistic]):
            print(statistic, view.get("memory", "-"), cell, total, noise, sep="\t")
        if statistic == "count":
            enough = 12 * noise
    if len(totals) == 2:
        for cell, count, total in zip(cells, totals["count"], totals["sum"]):
            if count > enough:
                print("mean", view.get("memory", "-"), cell, total / count, "-", sep="\t")
