"""Vectors are those of Go, to the bit: on the committed vectors, and on drawn rows, whose vectors the slow twin computes.

ROWS is how many rows are drawn. A test of schemas/event checks the committed vectors, which the slow twin wrote.
"""

import json
import math
import os
import pathlib
import random
import struct
import sys
import time
import unittest

import numpy as np

from oriel import Range, Vector
from oriel.xxh64 import hashes

ROOT = pathlib.Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "schemas/testdata"))
from hashing import hash_features, xxh64  # noqa: E402  the slow twin

TEXTS = ["", "\0", "a\0b", "😀", "ä", "e\u0301", "\u2028", "\ufeff", "\uffff", "x" * 31, "x" * 32, "x" * 33, "y" * 1000, "'\"\\",
         " ", "NaN", "true", "1", "名前", "\U0010ffff"]
NUMBERS = [0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, -1e308, 1e-300, 1e300, 0.1, -3.5, 24, 1 << 53,
           (1 << 53) + 1, -(1 << 63), 10 ** 300, 12, 7.25]
NAMES = ["carrier", "hour", "distance", "", "ä", "a\0b", "x" * 40, "名前", "late", "f0", "f1", "f2"]


def drawn(rng: random.Random, names: list[str]) -> dict[str, object]:
    return {name: rng.choice((
        lambda: rng.choice(TEXTS), lambda: "v%d" % rng.randrange(50), lambda: rng.choice(NUMBERS), lambda: rng.uniform(-30, 30),
        lambda: struct.unpack("<d", rng.randbytes(7) + b"\x3f")[0], lambda: rng.randrange(-99, 99), lambda: True, lambda: False,
        lambda: "".join(chr(rng.choice((rng.randrange(32, 127), rng.randrange(0x80, 0xd800)))) for _ in range(rng.randrange(40))),
    ))() for name in names}


def bits(values: list[float]) -> bytes:
    return struct.pack(f"<{len(values)}d", *values)


def vectors(vector: Vector, rows: object) -> list[tuple[list[int], list[float]] | None]:
    out: dict[int, tuple[list[int], list[float]] | None] = {}
    for b in vector.batches(rows):
        places = range(b.places.start, b.places.stop) if isinstance(b.places, slice) else b.places.tolist()
        for i, place in enumerate(places):
            out[place] = b.row(i) if b.valid[i] else None
    return [out[i] for i in range(len(out))]


class Hashing(unittest.TestCase):
    def test_hashes_are_those_of_the_specification(self) -> None:
        rng = random.Random(1)
        tokens = [rng.randbytes(n) for n in range(140)] + [b"", b"a"] + [rng.randbytes(rng.randrange(70)) for _ in range(300)]
        self.assertEqual(hashes(tokens).tolist(), [xxh64(t) for t in tokens])

    def test_committed_vectors(self) -> None:
        cases = json.loads((ROOT / "schemas/testdata/hashing.json").read_text())
        for case in cases:
            vector = Vector(case["dimension"], case["bias"], case["norm"], tuple(Range(**r) for r in case["ranges"]))
            row = dict(map(tuple, case["features"]))
            indices, values = vectors(vector, [row])[0]
            self.assertEqual((indices, bits(values)), (case["indices"], bits(case["values"])), case)
        self.assertGreater(len(cases), 100)

    def test_turns(self) -> None:
        from oriel.hashing import sin_cos_turn

        turns = np.array(json.loads((ROOT / "schemas/testdata/turns.json").read_text()))
        for got, want in zip(sin_cos_turn(turns[:, 0]), (turns[:, 1], turns[:, 2])):
            self.assertLess(np.abs(got - want).max(), 5e-16)

    def test_rows_are_those_of_the_twin(self) -> None:
        rng, count = random.Random(30), int(os.environ.get("ROWS", "20000"))
        settings = [
            (32, True, "unit", "hour:0:24:cyclic,distance:0:5000"), (2, True, "unit", ""), (1000, False, "none", "hour:-5:7"),
            (262144, True, "none", "f0:0:1e-300:cyclic,f1:-1e308:7e307"), (7, False, "unit", "f2:0:1:cyclic"),
        ]
        for d, bias, norm, ranges in settings:
            shapes = [rng.sample(NAMES, rng.randrange(8)) for _ in range(50)]
            rows = [drawn(rng, rng.choice(shapes)) for _ in range(count // len(settings))]
            parts = [r.removesuffix(":cyclic").rsplit(":", 2) + [r.endswith(":cyclic")] for r in ranges.split(",") if r]
            vector = Vector(d, bias, norm, tuple(Range(n, float(low), float(high), c) for n, low, high, c in parts))
            got, overflows = vectors(vector, rows), 0
            slow = [{"name": n, "low": float(low), "high": float(high), "cyclic": c} for n, low, high, c in parts]
            for row, mine in zip(rows, got):
                indices, values = hash_features(row.items(), d, bias, norm, slow)
                raw = hash_features(row.items(), d, bias, "none", slow)[1]
                fits = all(map(math.isfinite, raw)) and (norm == "none" or math.isfinite(sum(v * v for v in raw)))
                if mine is None or not fits:
                    self.assertEqual((mine, fits), (None, False), row)
                    overflows += 1
                    continue
                self.assertEqual((mine[0], bits(mine[1])), (indices, bits(values)), row)
            self.assertLess(overflows, len(rows) // 2)

    def test_columns_are_their_rows(self) -> None:
        rng = random.Random(4)
        vector = Vector(64, ranges=(Range("hour", 0, 24, True),))
        n = 40_000  # more than one chunk
        columns = {"carrier": [rng.choice(TEXTS) for _ in range(n)], "hour": np.array([rng.uniform(-3, 30) for _ in range(n)]),
                   "late": np.array([rng.random() < 0.5 for _ in range(n)]), "mixed": [rng.choice(["1", 1, True, None, 0.5]) for _ in range(n)]}
        columns["hour"][::7] = np.nan
        got = vectors(vector, columns)
        for i in range(0, n, 97):
            row = [(name, column[i]) for name, column in columns.items()]
            row = [(name, bool(v) if name == "late" else v) for name, v in row if v is not None and v == v]
            want = hash_features(row, 64, ranges=[{"name": "hour", "low": 0, "high": 24, "cyclic": True}])
            self.assertEqual((got[i][0], bits(got[i][1])), (want[0], bits(want[1])), row)

    def test_bad_values_are_named_without_their_text(self) -> None:
        for value in ("secret\ud800", float("inf"), 10 ** 400, ["secret"], b"secret", 1j):
            with self.assertRaises((TypeError, ValueError)) as caught:
                list(Vector(8).batches([{"fine": 1, "name": value}]))
            self.assertIn("'name'", str(caught.exception))
            self.assertNotIn("secret", str(caught.exception))

    def test_speed(self) -> None:
        """A row has six features. Rates are of processor time, with the room of a busy machine."""
        rng = np.random.default_rng(1)
        n = 500_000
        few = {f"t{k}": np.array([f"value {i}" for i in range(10_000)], object)[rng.integers(0, 10_000, n)] for k in range(4)}
        few |= {"hour": rng.integers(0, 24, n), "distance": rng.random(n)}
        free = {f"t{k}": [f"free text {x}" for x in rng.integers(0, 1 << 60, 50_000)] for k in range(6)}
        vector = Vector(32, ranges=(Range("hour", 0, 24, True),))
        for name, columns, rows in (("few distinct", few, n), ("free", free, 50_000)):
            start = time.process_time()
            for _ in vector.batches(columns):
                pass
            rate = rows / (time.process_time() - start)
            print(f"{name}: {rate:,.0f} rows a second")
            self.assertGreater(rate, {"few distinct": 500_000, "free": 25_000}[name])


if __name__ == "__main__":
    unittest.main()
