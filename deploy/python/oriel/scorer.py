"""Scores of events, by the newest decision of a stream."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .decisions import dense, read
from .descriptor import Descriptor
from .hashing import Batch, Floats

if TYPE_CHECKING:
    from .topic import Topic


@dataclass(frozen=True)
class Model:
    """The newest decision of a stream."""

    stream: str
    step: int
    weights: Floats
    time: float | None  # seconds since 1970: the greatest timestamp of the step's events, else that of the record
    of_events: bool  # which of the two
    noise: float | None  # standard deviation of noise in each weight, independent from weight to weight
    deviations: Floats | None  # of noise in each weight, of a decision that says it
    partition: int | None
    band: tuple[float, float] | None = None  # ends relative to a prediction; of log-odds the second bounds 1 minus a probability
    band_level: float | None = None  # share of all events that is to be within in the long run

    @property
    def age(self) -> float | None:
        """Seconds since time."""
        return None if self.time is None else time.time() - self.time


class Scorer:
    """Scores rows: a data frame, a dictionary of columns, or a sequence of dictionaries.

    If the deployment has a mapping (ORIEL_MAP), rows are raw records of its input topic, as JSON says them. Labels and
    other members that the mapping names besides features are not read. Members that it does not name are refused;
    unknown="warn" names them in a warning, and unknown="ignore" leaves them out in silence, as the deployment does. A row
    that is no event for Oriel has no score (NaN), and a warning says why. Conditions of the mapping on the label are left out.

    Without a mapping, rows are features, and each name that a row has is one. A value is a text, a number or a truth; a
    missing one is a feature that the row does not have. Dictionaries may also be events, {"features": {…}, "label": 1}.
    """

    def __init__(
        self, descriptor: Descriptor, stream: str | None = None, topic: "Topic | None" = None, unknown: str = "refuse"
    ) -> None:
        if unknown not in ("refuse", "warn", "ignore"):
            raise ValueError("unknown: not refuse, warn or ignore")
        self.unknown = unknown
        self.descriptor = descriptor
        self.stream = stream
        self.models: dict[str, Model] = {}
        self._topic = topic

    @classmethod
    def from_file(
        cls, decisions: str | Path, descriptor: str | Path | None = None, stream: str | None = None, unknown: str = "refuse"
    ) -> "Scorer":
        """Reads lines of JSON, as `oriel tail --raw` prints them. Without descriptor the first line is it."""
        with open(decisions, "rb") as file:
            first = file.readline() if descriptor is None else Path(descriptor).read_bytes()
            scorer = cls(Descriptor.parse(first), stream, unknown=unknown)
            for line in file:
                if line.strip():
                    scorer.take(line.strip())
        return scorer

    @classmethod
    def from_topic(
        cls, topic: str, bootstrap: str, descriptor: str | None = None, stream: str | None = None,
        config: dict[str, Any] | None = None, unknown: str = "refuse",
    ) -> "Scorer":
        """Reads the newest decision of each stream, by committed records alone. descriptor is the topic of the descriptor,
        <name>.descriptor when left out; config are settings of librdkafka beside bootstrap.servers.
        """
        from .topic import Topic  # it needs confluent-kafka

        source = Topic(topic, bootstrap, descriptor, config or {})
        scorer = cls(Descriptor.parse(source.descriptor()), stream, source, unknown)
        for partition, recorded, value in source.newest():
            scorer.take(value, recorded, partition)
        return scorer

    def take(self, value: bytes, recorded: float | None = None, partition: int | None = None) -> None:
        """Takes a published decision, in any encoding. recorded is the timestamp of its record, seconds."""
        d = read(value)
        weights = np.array(dense(d["decision"]), np.float64)
        if len(weights) != self.descriptor.vector.dimension * max(1, len(self.descriptor.arms)):
            raise ValueError(f"decision of {len(weights)} numbers, which the descriptor does not describe")
        deviations = d.get("deviation")
        self.models[d["stream"]] = Model(
            d["stream"], d["step"], weights, d["time"] / 1000 if "time" in d else recorded, "time" in d,
            self.descriptor.noise(d["step"]), None if deviations is None else np.array(deviations, np.float64), partition,
            (d["band_low"], d["band_high"]) if "band_low" in d else None, d.get("band_level"))

    def latest(self, stream: str | None = None) -> Model:
        """Gives the newest model, of what was published until now. LookupError: there is none, or there are several and
        none is named.
        """
        if self._topic:
            for partition, recorded, value in self._topic.more():
                self.take(value, recorded, partition)
        stream = stream if stream is not None else self.stream
        if stream is None and len(self.models) == 1 and (self._topic is None or self._topic.partitions == 1):
            return next(iter(self.models.values()))
        if stream is None:
            raise LookupError("no decision yet" if not self.models else "several streams: name one; stream_of finds it by key")
        if stream not in self.models:
            raise LookupError("no such stream has published a decision")
        return self.models[stream]

    def stream_of(self, key: bytes) -> str:
        """Gives the stream that takes events with a record key, as Kafka's default partitioner chooses."""
        if self._topic is None:
            raise LookupError("a file of decisions does not say how many partitions there are")
        partition = (murmur2(key) & 0x7FFFFFFF) % self._topic.partitions
        found = [m.stream for m in self.models.values() if m.partition == partition]
        if len(found) != 1:
            raise LookupError("no stream, or several, in the partition of the key")
        return found[0]

    def decision_function(self, rows: Any, model: Model | None = None) -> Floats:
        """Gives ⟨features, weights⟩ and the offset of each row: log-odds of label 1, or a value. NaN for a row that is no
        event, for example because a number overflows. Of arms it has a column each.
        """
        return self._of_each(rows, model, self._values)

    def deviation(self, rows: Any, model: Model | None = None) -> Floats:
        """Gives the standard deviation of privacy's noise in decision_function; NaN where it is not known. Of a decision that
        has a deviation for each weight it takes their noise to be independent.
        """
        return self._of_each(rows, model, self._deviations)

    def predict_proba(self, rows: Any, model: Model | None = None) -> Floats:
        """Gives the probabilities of the labels 0 and 1."""
        if self.descriptor.predicts != "log-odds":
            raise AttributeError(f"predict_proba: this model predicts {self.descriptor.predicts}")
        return probabilities(self.decision_function(rows, model))

    def predict(self, rows: Any, model: Model | None = None) -> NDArray[Any]:
        """Gives labels (0 and 1; of class −1 and 1), or values, or of arms the place of the best one. NaN for a row that is
        no event.
        """
        return self.labels(self.decision_function(rows, model))

    def band(self, rows: Any, model: Model | None = None) -> Floats:
        """Gives the lower and the upper end of the band for the label of each row, of a model that predicts a number. Of all
        events model.band_level are to be within in the long run. LookupError: the decision has no band.
        """
        model, band = self._banded(model, of_labels=False)
        return intervals(self.decision_function(rows, model), band)

    def label_set(self, rows: Any, model: Model | None = None) -> NDArray[np.bool_]:
        """Tells whether the labels 0 and 1 are in the set of labels of each row, of a model that predicts log-odds: a column
        each; neither is for a row that overflows. LookupError: the decision has no set.
        """
        model, band = self._banded(model, of_labels=True)
        return label_sets(self.decision_function(rows, model), band)

    def _banded(self, model: Model | None, of_labels: bool) -> tuple[Model, tuple[float, float]]:
        if (self.descriptor.predicts == "log-odds") != of_labels:
            raise AttributeError(f"this model predicts {self.descriptor.predicts}: band is for numbers, label_set for log-odds")
        model = model or self.latest()
        if model.band is None:
            raise LookupError("the decision has no band")
        return model, model.band

    def labels(self, scores: Floats) -> NDArray[Any]:
        """Gives what predict makes of decision_function. A row without a score has no label (NaN)."""
        match self.descriptor.predicts:
            case "log-odds":
                found = (scores > 0).astype(np.int64)
            case "class":
                found = np.where(scores >= 0, 1, -1)
            case "reward":
                found = np.asarray(scores.argmax(axis=1))
            case _:
                return scores if self.descriptor.bounds is None else np.clip(scores, *self.descriptor.bounds)
        missing = np.isnan(scores).reshape(len(scores), -1).any(axis=1)
        return np.where(missing, np.nan, found) if missing.any() else found

    def weights(self, names: list[str] | None = None, model: Model | None = None) -> list[tuple[str, float, float | None]]:
        """Gives names, weights and deviations of noise, the largest weight first. names are further features, "distance" for a
        number and "carrier=UA" for a text, beside those of public settings.
        """
        model = model or self.latest()
        known = list(self.descriptor.names)
        for name in names or ():
            feature, is_text, text = name.partition("=")
            known.append((name, *self.descriptor.vector.place((feature + ("\0" + text if is_text else "")).encode())))
        found = [
            (name, sign * float(model.weights[i]), model.noise if model.deviations is None else float(model.deviations[i]))
            for name, i, sign in known]
        return sorted(found, key=lambda f: -abs(f[1]))

    def _of_each(self, rows: Any, model: Model | None, of: Any) -> Floats:
        model = model or self.latest()
        parts: list[tuple[Any, Floats]] = []
        for batch in self.descriptor.batches(rows, self.unknown):
            scores = of(batch, model)
            scores[~batch.valid] = np.nan
            parts.append((batch.places, scores))
        if not parts:
            return np.empty((0, len(self.descriptor.arms)) if self.descriptor.arms else 0)
        if isinstance(parts[0][0], slice):
            return np.concatenate([scores for _, scores in parts])
        out = np.empty((sum(len(places) for places, _ in parts), *parts[0][1].shape[1:]))
        for places, scores in parts:
            out[places] = scores
        return out

    def _values(self, b: Batch, model: Model) -> Floats:
        d = self.descriptor.vector.dimension
        arms = max(1, len(self.descriptor.arms))
        scores = np.full((b.values.shape[1], arms), self.descriptor.offset)
        for arm in range(arms):
            total = np.zeros(b.values.shape[1])
            for index, value in zip(b.indices, b.values):
                total += value * model.weights[arm * d + index]
            scores[:, arm] += total
        return scores if self.descriptor.arms else scores[:, 0]

    def _deviations(self, b: Batch, model: Model) -> Floats:
        if self.descriptor.arms or (model.deviations is None and model.noise is None):
            return np.full(b.values.shape[1], np.nan)
        total = np.zeros(b.values.shape[1])
        for index, value in zip(b.indices, b.values):
            noise = model.noise if model.deviations is None else model.deviations[index]
            total += np.square(value * noise)
        return np.sqrt(total)


def probabilities(log_odds: Floats) -> Floats:
    with np.errstate(over="ignore"):
        p = 1.0 / (1.0 + np.exp(-log_odds))
    return np.stack([1.0 - p, p], axis=1)


def intervals(values: Floats, band: tuple[float, float]) -> Floats:
    low, high = band
    return np.stack([values + low, values + high], axis=1)


def label_sets(log_odds: Floats, band: tuple[float, float]) -> NDArray[np.bool_]:
    return np.asarray(probabilities(log_odds)[:, ::-1] <= band[1])


def murmur2(key: bytes) -> int:
    """The hash by which Kafka's default partitioner chooses."""
    m, mask = 0x5BD1E995, 0xFFFFFFFF
    h = 0x9747B28C ^ len(key)
    whole = len(key) & ~3
    for i in range(0, whole, 4):
        k = int.from_bytes(key[i:i + 4], "little") * m & mask
        h = (h * m & mask) ^ ((k ^ k >> 24) * m & mask)
    if len(key) > whole:
        h = (h ^ int.from_bytes(key[whole:], "little")) * m & mask
    h = (h ^ h >> 13) * m & mask
    return h ^ h >> 15
