"""Writes decisions.json: points in both forms, which deploy/python/oriel/decisions.py reads. encodings.txt has decisions
in each encoding.
"""

import json
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "deploy/python/oriel"))
from decisions import dense  # noqa: E402


def sparse(point):
    """Gives the sparse form of a point: values that are not zero, falling, and the coordinates that have each."""
    values = sorted({x for x in point if x != 0.0}, reverse=True)
    return {"dimension": len(point), "values": values,
            "indices": [[i for i, x in enumerate(point) if x == value] for value in values]}


def cases():
    rng = random.Random(20130101)
    yield []
    yield [0.0]
    yield [0.0, 1.0, 0.0, 1.0]
    yield [5e-324, -5e-324, 1.7976931348623157e308, -1.7976931348623157e308, 0.1, 1e21, 1e-7]
    for n in list(range(1, 12)) + [40]:
        for _ in range(4):
            weights = [rng.choice([1.0, 0.5, 2.0 ** -rng.randrange(1, 60), rng.random(), -rng.random()]) for _ in range(4)]
            point = [0.0] * n
            for w in weights:
                for i in rng.sample(range(n), rng.randrange(0, n // 2 + 1)):
                    point[i] += w
            yield point


def main():
    lines = []
    for point in cases():
        assert dense(sparse(point)) == point and dense(point) == point
        lines.append(json.dumps({"dense": point, "sparse": sparse(point)}, separators=(",", ":")))
    with open("decisions.json", "w") as f:
        f.write("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
