"""Sums the increments that decisions publish with ORIEL_INCREMENTS=true over a window of one's own, in SQLite.

    oriel tail --topic delays.descriptor --raw --follow=false > names.json
    oriel tail --topic delays.decisions --raw --follow=false | python3 windows.py names.json 500

prints, for each stream and cell, the events of its last 500 steps, the sum of their values where there is one, and the
standard deviation of the noise of each. Any engine can do the same. The noise of neighbouring increments cancels: adding
up variances step by step would claim many times the error; the table window_deviation says what it is.
"""
import itertools
import json
import math
import sqlite3
import sys

import descriptor


def deviation(table, steps):
    """Of a count over a window: table[i] is that of 2^i steps; straight in logarithms between them."""
    at = math.log2(steps)
    if at > len(table) - 1:
        sys.exit(f"{steps} steps: above {2 ** (len(table) - 1)}, the longest window that decisions tell of")
    low = min(int(at), len(table) - 2)
    return math.exp((low + 1 - at) * math.log(table[low]) + (at - low) * math.log(table[low + 1]))


names = descriptor.read("windows.py names.json STEPS")
if len(sys.argv) < 3 or not sys.argv[2].isdecimal():
    sys.exit("windows.py names.json STEPS: STEPS is not a number of steps")
steps = int(sys.argv[2])
if steps < 1 or steps % names["emit_every"]:
    sys.exit(f"{steps} steps: not a multiple of the {names['emit_every']} that a decision has the increments of")

db = sqlite3.connect(":memory:")
db.execute("create table increments (stream text, step integer, name text, place integer, cell text, value real)")
places = list(itertools.product(names["increments"], enumerate(names["cells"])))
for line in sys.stdin:
    d = json.loads(line)
    noise = deviation(d["window_deviation"], steps)
    db.executemany(
        "insert into increments values (?, ?, ?, ?, ?, ?)",
        ((d["stream"], d["step"], name, place, cell, x) for (name, (place, cell)), x in zip(places, d["increments"])),
    )

window = """
    select stream, cell, sum(value) filter (where name = 'count'), sum(value) filter (where name = 'sum')
    from increments i
    where step > (select max(step) from increments where stream = i.stream) - ?
    group by stream, place, cell order by stream, place
"""
each = dict(zip(names["increments"], names["increment_deviations"]))  # of a column, beside that of a count
for stream, cell, count, total in db.execute(window, (steps,)):
    row = [stream, cell, count, noise * each["count"]]
    if total is not None:  # of values brought to -1 ... 1
        low, high = names["value"]["low"], names["value"]["high"]
        middle, half = (low + high) / 2, (high - low) / 2
        row += [middle * count + half * total, noise * math.hypot(middle * each["count"], half * each["sum"])]
    print(*row, sep="\t")
