"""Orders per hour by country and in all, with their intervals, by numpy alone from the decisions of a topic: what `oriel
numbers` writes must agree to 1e-9.

    python orders_per_hour.py BROKERS NAME FOLDER
"""
import json
import sys

import confluent_kafka as kafka
import numpy as np
import pandas as pd
import polars as pl

brokers, name, folder = sys.argv[1:]
HOUR, Z = 3_600_000, 1.959963984540054


def committed(topic):
    """The values of the committed records of partition 0."""
    consumer = kafka.Consumer({
        "bootstrap.servers": brokers, "group.id": "orders", "isolation.level": "read_committed",
        "enable.auto.commit": False, "enable.partition.eof": True, "auto.offset.reset": "earliest",
    })
    consumer.assign([kafka.TopicPartition(topic, 0, kafka.OFFSET_BEGINNING)])
    values = []
    while (message := consumer.poll(30)) is not None and message.error() is None:
        values.append(json.loads(message.value()))
    assert message is not None and message.error().code() == kafka.KafkaError._PARTITION_EOF, message
    consumer.close()
    return values


names = committed(name + ".descriptor")[-1]
decisions = committed(name + ".decisions")
cells = [cell.removeprefix("country=") for cell in names["cells"]]
low, high = names["value"]["low"], names["value"]["high"]
middle, half = (low + high) / 2, (high - low) / 2
hours = np.array([d["time"] for d in decisions]) // HOUR
increments = np.array([d["increments"] for d in decisions]).reshape(len(decisions), -1, len(cells))
assert [d["step"] for d in decisions] == list(range(1, len(decisions) + 1))  # one a step, from the first on

# e_j of a draw is in the increment of j steps later; a draw has the deviation of one increment over the root of Σ e_j².
period, *filter = decisions[0]["increment_filter"]
q, r = np.array(filter).reshape(2, -1) / 2**30
powers = q ** np.arange(100_000)[:, None]
e = np.concatenate([[1], -powers @ r])
draw = decisions[0]["window_deviation"][0] / np.sqrt(e @ e)
assert period > len(decisions)  # all steps are of one block

want = {}
for hour in np.unique(hours):
    inside = (hours == hour).astype(float)
    # How much of the draw of each step is in the sum: e_j summed over the steps of the hour that are not before it.
    held = np.convolve(inside[::-1], e[: len(inside)])[: len(inside)]
    noise = draw * np.sqrt(held @ held)
    sums = inside @ increments.reshape(len(inside), -1)
    n, x = sums.reshape(-1, len(cells))[:2]
    for cell, a, b, many in [*zip(cells, n, x, [1] * len(cells)), ("all", n.sum(), x.sum(), len(cells))]:
        sn, sx = noise * np.sqrt(many) * np.array(names["increment_deviations"][:2])
        want[hour, cell, "count"] = a, sn
        want[hour, cell, "sum"] = middle * a + half * b, np.hypot(middle * sn, half * sx)
        # Fieller: the means m with (b − m·a)² ≤ z²·(sx² + m²·sn²).
        roots = np.sort(np.roots([a**2 - (Z * sn) ** 2, -2 * a * b, b**2 - (Z * sx) ** 2]))
        if a > 12 * sn:
            want[hour, cell, "mean"] = middle + half * b / a, *(middle + half * np.clip(roots, -1, 1))

tables = {
    "csv": pd.read_csv(f"{folder}/numbers.csv", dtype={"country": str}),
    "json": pd.read_json(f"{folder}/numbers.json", lines=True),
    "parquet": pd.DataFrame(pl.read_parquet(f"{folder}/numbers.parquet").to_dicts()),
}
for format, table in tables.items():
    worst, known = 0.0, 0
    assert len(table) == len(set(hours)) * (len(cells) + 1) * 3, (format, len(table))
    for row in table.to_dict("records"):
        hour = int(pd.Timestamp(row["start"]).timestamp() * 1000) // HOUR
        key = hour, row["country"], row["statistic"]
        if key not in want:
            assert np.isnan(row["value"]), key
            continue
        mine = want[key]
        own = [row["value"], row["deviation"]] if row["statistic"] != "mean" else [row["value"], row["low"], row["high"]]
        if row["statistic"] != "mean":
            mine, own = (*mine, mine[0] - Z * mine[1], mine[0] + Z * mine[1]), [*own, row["low"], row["high"]]
        known += 1
        worst = max(worst, *(abs(a - b) / max(1, abs(b)) for a, b in zip(own, mine)))
    assert worst < 1e-9 and known > 0.8 * len(table), (format, worst, known)
    print(f"{format}: {known} numbers of {len(table)} agree to {worst:.1g}")
