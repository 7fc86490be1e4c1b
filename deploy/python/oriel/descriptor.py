"""The published descriptor: what a scorer needs beside decisions. cmd/internal/score/descriptor.go describes it."""

import bisect
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .hashing import Batch, Vector
from .mapping import Mapping, own_features


@dataclass(frozen=True)
class Descriptor:
    vector: Vector
    predicts: str  # log-odds, class, mean, quantile, reward
    offset: float = 0.0
    bounds: tuple[float, float] | None = None
    arms: tuple[str, ...] = ()
    names: tuple[tuple[str, int, float], ...] = ()  # name, coordinate, sign
    steps: tuple[int, ...] = ()
    deviations: tuple[float, ...] = ()
    mapping: Mapping | None = None  # None: events have features under their own names

    @classmethod
    def parse(cls, text: str | bytes) -> "Descriptor":
        """Reads the newest descriptor of a text, which is its last line. ValueError: it is none."""
        lines = [line for line in text.splitlines() if line.strip()]
        d = json.loads(lines[-1]) if lines else None
        if not isinstance(d, dict) or "vector" not in d:
            raise ValueError("not a descriptor of an operator with features")
        low_high = d.get("bounds")
        noise: dict[str, Any] = d.get("noise") or {"steps": (), "deviations": ()}
        return cls(
            Vector.of(d["vector"]), d.get("predicts", ""), d.get("offset", 0.0),
            (low_high[0], low_high[1]) if low_high else None, tuple(d.get("arms", ())),
            tuple((n["name"], n["index"], n["sign"]) for n in d.get("names", ())),
            tuple(noise["steps"]), tuple(noise["deviations"]), Mapping(d["map"]) if "map" in d else None)

    def batches(self, rows: Any, unknown: str) -> Iterator[Batch]:
        """Gives the vectors of rows. With a mapping, rows are raw records of the input topic; a record that is no event is
        not valid.
        """
        if self.mapping is None:
            yield from self.vector.batches(own_features(rows))
            return
        features, bad = self.mapping.all_features(rows, unknown)
        for batch in self.vector.batches(features):
            batch.valid &= ~np.isin(np.arange(len(features))[batch.places], bad)
            yield batch

    def noise(self, step: int) -> float | None:
        """Gives the standard deviation of noise in each weight after a step: straight in logarithms of both between two
        rows of the table. None: it is not known.
        """
        if not self.steps:
            return None
        i = bisect.bisect_left(self.steps, step)
        if i == len(self.steps):
            return self.deviations[-1]
        if i == 0 or self.steps[i] == step:
            return self.deviations[i]
        low, high = math.log(self.deviations[i - 1]), math.log(self.deviations[i])
        share = math.log(step / self.steps[i - 1]) / math.log(self.steps[i] / self.steps[i - 1])
        return math.exp(low + share * (high - low))
