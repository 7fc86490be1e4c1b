"""Feature hashing, version 1: named features become the vector that Oriel learns from, to the bit, for many rows at once.

schemas/event/config.go describes it, and schemas/testdata/hashing.py is the same for one row, slow and plain.
"""

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import blocks, kinds
from .xxh64 import hashes

Floats = NDArray[np.float64]
CHUNK = 1 << 14  # rows that are worked on at once: they stay in the processor's cache


@dataclass(frozen=True)
class Range:
    """A public range of a numeric feature; cyclic: one turn from low to high."""

    name: str
    low: float
    high: float
    cyclic: bool = False


@dataclass
class Batch:
    """Vectors of some rows: entry k of row i has the coordinate indices[k, i] and the value values[k, i], if there[k, i].

    Entries of a row stand in the order in which their coordinates first appear. valid is false for a row that
    overflows: Oriel takes it as no event.
    """

    places: NDArray[np.int64] | slice
    indices: NDArray[np.int32]
    values: Floats
    there: NDArray[np.bool_]
    valid: NDArray[np.bool_]

    def row(self, i: int) -> tuple[list[int], list[float]]:
        """Gives the indices and values of a row."""
        there = self.there[:, i]
        return self.indices[there, i].tolist(), self.values[there, i].tolist()


@dataclass
class _Part:
    """What one feature adds: to a coordinate of each row, a value; there is None where every row has it."""

    index: NDArray[np.int32] | int
    value: Floats | float
    there: NDArray[np.bool_] | None = None

    def cut(self, rows: slice) -> tuple[NDArray[np.int32] | int, Floats | float, NDArray[np.bool_] | None]:
        index = self.index if isinstance(self.index, int) else self.index[rows]
        value = self.value if isinstance(self.value, float) else self.value[rows]
        return index, value, None if self.there is None else self.there[rows]


@dataclass(frozen=True)
class Vector:
    """How vectors are made of features: the member "vector" of a descriptor."""

    dimension: int
    bias: bool = True
    norm: str = "unit"
    ranges: tuple[Range, ...] = ()

    @classmethod
    def of(cls, described: dict[str, Any]) -> "Vector":
        if described.get("version") != 1:
            raise ValueError("descriptor: vectors of a version that this package does not know")
        ranges = tuple(Range(r["name"], r["low"], r["high"], r.get("cyclic", False)) for r in described.get("ranges", ()))
        return cls(described["dimension"], described["bias"], described["norm"], ranges)

    def places(self, tokens: list[bytes]) -> tuple[NDArray[np.int32], Floats]:
        """Gives the coordinate of each token, and its sign."""
        h = hashes(tokens)
        d, low = np.uint64(self.dimension), np.uint64(0xFFFFFFFF)
        half = np.uint64(32)
        high = ((h >> half) * d + (((h & low) * d) >> half)) >> half  # d ≤ 2^24: nothing overflows
        return high.astype(np.int32), np.where(h & np.uint64(1), -1.0, 1.0)

    def place(self, token: bytes) -> tuple[int, float]:
        index, sign = self.places([token])
        return int(index[0]), float(sign[0])

    def batches(self, rows: Any) -> Iterator[Batch]:
        """Gives the vectors of rows: a data frame, a dictionary of columns, or dictionaries. A value is a text, a number
        or a truth; a missing one (None, NaN) is a feature that the row does not have.
        """
        ranges = {r.name: r for r in self.ranges}
        for places, count, columns in blocks(rows):
            parts: list[_Part] = []
            for name, column in columns:
                for kind, there, values in kinds(name, column):
                    parts += self._parts(_utf8(name, name), kind, values, there, ranges.get(name), name)
            if self.bias:
                index, sign = self.place(b"")
                parts.append(_Part(index, sign))
            for start in range(0, count, CHUNK):
                rows_at = slice(start, min(start + CHUNK, count))
                yield self._batch(parts, rows_at, rows_at if places is None else places[rows_at])

    def _parts(
        self, token: bytes, kind: str, values: NDArray[Any], there: NDArray[np.bool_] | None, r: Range | None, name: str
    ) -> list[_Part]:
        if kind == "text":
            codes, texts = _distinct(values)
            indices, signs = self.places([token + b"\0" + _utf8(text, name) for text in texts])
            return [_Part(_spread(indices[codes], there), _spread(signs[codes], there), there)]
        if kind == "truth":
            index, sign = self.place(token)
            return [_Part(index, sign, _spread(values, there))]
        if not np.isfinite(values).all():
            raise ValueError(f"feature {name!r}: not a finite number")
        with np.errstate(over="ignore", invalid="ignore"):
            if r is None:
                index, sign = self.place(token)
                return [_Part(index, _spread(sign * values, there), there)]
            u = (values - r.low) / (r.high - r.low)
            if not r.cyclic:
                index, sign = self.place(token)
                clamped = np.where(u <= 0.0, 0.0, np.where(u >= 1.0, 1.0, u))
                return [_Part(index, _spread(sign * clamped, there), there)]
            t = np.where(np.isfinite(u), u - np.floor(u), 0.0)
        parts = []
        for end, x in zip((b"\0sin", b"\0cos"), sin_cos_turn(t)):
            index, sign = self.place(token + end)
            parts.append(_Part(index, _spread(sign * x, there), there))
        return parts

    def _batch(self, parts: list[_Part], rows: slice, places: NDArray[np.int64] | slice) -> Batch:
        n = rows.stop - rows.start
        indices, values = np.empty((len(parts), n), np.int32), np.empty((len(parts), n))
        there = np.empty((len(parts), n), np.bool_)
        fixed: list[int | None] = []  # the coordinate of a part that has one for all rows
        with np.errstate(over="ignore", invalid="ignore"):
            for k, part in enumerate(parts):
                index, value, has = part.cut(rows)
                indices[k], values[k], there[k] = index, value, True if has is None else has
                values[k] += 0.0
                if has is not None:
                    values[k][~has] = 0.0
                fixed.append(index if isinstance(index, int) else None)
                for j in range(k):
                    if fixed[j] is not None and fixed[k] is not None and fixed[j] != fixed[k]:
                        continue
                    same = indices[j] == indices[k]
                    same &= there[j]
                    same &= there[k]
                    if same.any():
                        values[j][same] += values[k][same]
                        values[k][same] = 0.0
                        there[k][same] = False
            return self._scaled(Batch(places, indices, values, there, np.asarray(np.isfinite(values).all(axis=0))))

    def _scaled(self, b: Batch) -> Batch:
        if self.norm != "unit":
            return b
        total = np.zeros(b.values.shape[1])
        for row in b.values:  # one after the other, as Oriel adds them
            total += row * row
        b.valid &= np.isfinite(total)
        b.values /= np.where(total > 0.0, np.sqrt(total), 1.0)
        return b


def _spread(values: NDArray[Any], there: NDArray[np.bool_] | None) -> NDArray[Any]:
    if there is None:
        return values
    whole = np.zeros(len(there), values.dtype)
    whole[there] = values
    return whole


def _distinct(values: NDArray[Any]) -> tuple[NDArray[np.int64], list[str]]:
    """Gives the texts, each once, and for each row which it is."""
    if "pandas" in sys.modules:  # it does so in half the time
        codes, distinct = sys.modules["pandas"].factorize(values)
        return codes, distinct.tolist()
    listed = values.tolist()
    texts = list(dict.fromkeys(listed))
    at = dict(zip(texts, range(len(texts))))
    return np.fromiter(map(at.__getitem__, listed), np.int64, len(listed)), texts


def _utf8(text: str, name: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"feature {name!r}: a lone surrogate, which no event can have") from None


_INVERSE = [1.0 / math.factorial(n) for n in range(18)]


def sin_cos_turn(t: Floats) -> tuple[Floats, Floats]:
    """Gives sine and cosine of turns in [0, 1], each operation rounded as schemas/event/ranges.go says."""
    if len(t) > CHUNK:
        sine, cosine = np.empty_like(t), np.empty_like(t)
        for i in range(0, len(t), CHUNK):
            sine[i:i + CHUNK], cosine[i:i + CHUNK] = sin_cos_turn(t[i:i + CHUNK])
        return sine, cosine
    q = np.floor(4.0 * t + 0.5)
    x = (t - q / 4.0) * 6.283185307179586
    z = x * x
    s, c = np.full_like(t, _INVERSE[17]), np.full_like(t, _INVERSE[16])
    for n in range(15, 0, -2):
        s = _INVERSE[n] - z * s
    for n in range(14, -1, -2):
        c = _INVERSE[n] - z * c
    s = x * s
    odd = (q == 1.0) | (q == 3.0)
    sine, cosine = np.where(odd, c, s), np.where(odd, s, c)
    sine = np.where((q == 2.0) | (q == 3.0), -sine, sine)
    cosine = np.where((q == 1.0) | (q == 2.0), -cosine, cosine)
    return sine + 0.0, cosine + 0.0
