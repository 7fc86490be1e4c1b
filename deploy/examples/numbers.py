"""Private numbers as lines of text: stream, step, memory, statistic, cell, number, and its interval at 95 %.

A dash stands for a number that is little more than noise.

    oriel tail --topic delays.descriptor --raw --follow=false > names.json
    oriel tail --topic delays.decisions --raw --from-beginning | python3 numbers.py names.json
    kcat -b localhost:9092 -C -t delays.decisions -q -X isolation.level=read_committed | python3 numbers.py names.json

oriel tail prints JSON whatever ORIEL_DECISIONS_FORMAT is, and kcat what is published.
"""
import json
import sys

import descriptor

names = descriptor.read("numbers.py names.json")
for line in sys.stdin:
    d = json.loads(line)
    numbers, marks = iter(d["decision"]), iter(d.get("shown", []))
    for v, view in enumerate(names["views"]):
        for statistic in names["statistics"]:
            for c, cell in enumerate(names["cells"]):
                x, ends = next(numbers), statistic.replace(".", "_")
                if statistic in ("count", "sum"):
                    half = 1.96 * d[statistic + "_deviation"][v]
                    low, high = x - half, x + half
                else:
                    low, high = (d[ends + end][v * len(names["cells"]) + c] for end in ("_low", "_high"))
                if next(marks, 1) == 0:
                    x = "–"
                print(d["stream"], d["step"], view.get("memory", "-"), statistic, cell, x, low, high, sep="\t")
