"""Scores are those of `oriel score`, which ORIEL is the program of, and rows may come in any form."""

import json
import os
import pathlib
import random
import subprocess
import tempfile
import unittest
import warnings

import numpy as np
import pandas
import polars
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from oriel import Scorer
from oriel.scorer import murmur2
from oriel.sklearn import Classifier, Regressor, Vectorizer

D = 16
VECTOR = {"version": 1, "dimension": D, "bias": True, "norm": "unit", "ranges": [
    {"name": "distance", "low": 0, "high": 5000}, {"name": "hour", "low": 0, "high": 24, "cyclic": True}]}
NOISE = {"steps": [1, 2, 1024], "deviations": [3.0, 2.0, 0.01]}
ROWS = [{"carrier": c, "hour": h, "distance": 1400.5} for c in ("UA", "AA", "é") for h in range(24)]


def deployment(folder: str, d: int = D, **described: object) -> pathlib.Path:
    """A file of a descriptor and decisions of two steps, the newest of which counts."""
    rng = random.Random(7)
    arms = len(described.get("arms", [0]))
    extras = described.pop("extras", {})
    file = pathlib.Path(folder) / "decisions.json"
    with open(file, "w") as f:
        f.write(json.dumps({"operator": "test", "vector": {**VECTOR, "dimension": d}, **described}) + "\n")
        for step in (1, 40):
            f.write(json.dumps({
                "stream": "trips", "incarnation": "0" * 32, "index": step, "step": step,
                "decision": [rng.uniform(-1, 1) for _ in range(d * arms)], "mechanism": "blt", "window": 0, "batch": 1,
                "epsilon": 1, "delta": 1e-6, "adjacency": "replace", "unit": "event", **extras}, separators=(",", ":")) + "\n")
    return file


def asked(file: pathlib.Path, rows: list[dict[str, object]]) -> list[dict[str, object]]:
    lines = "".join(json.dumps({"features": row}) + "\n" for row in rows)
    said = subprocess.run([os.environ["ORIEL"], "score", "--decisions", file], input=lines, capture_output=True, text=True, check=True,
                          env={"PATH": os.environ["PATH"]})
    return [json.loads(line) for line in said.stdout.splitlines()]


class Scores(unittest.TestCase):
    def setUp(self) -> None:
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = held.name

    def test_scores_and_noise_are_those_of_go(self) -> None:
        weights = {"deviation": [0.1 + i / 10 for i in range(D)], "time": 1.7e12}
        for described in (
            {"predicts": "log-odds", "noise": NOISE}, {"predicts": "mean", "offset": 2.5, "noise": NOISE},
            {"predicts": "mean", "offset": 0.5, "bounds": [0.4, 0.9], "extras": weights},
            {"predicts": "class"}, {"predicts": "reward", "arms": ["left", "right"]},
        ):
            file = deployment(self.folder, **dict(described))
            scorer, answers = Scorer.from_file(file), asked(file, ROWS)
            self.assertEqual((scorer.latest().stream, scorer.latest().step), (answers[0]["stream"], answers[0]["step"]))
            value = scorer.decision_function(ROWS)
            match described["predicts"]:
                case "log-odds":
                    np.testing.assert_allclose(value, [a["log_odds"] for a in answers], rtol=1e-12)
                    np.testing.assert_allclose(scorer.predict_proba(ROWS)[:, 1], [a["score"] for a in answers], rtol=1e-12)
                    np.testing.assert_allclose(scorer.deviation(ROWS), [a["log_odds_deviation"] for a in answers], rtol=1e-9)
                case "mean":
                    np.testing.assert_allclose(scorer.predict(ROWS), [a["score"] for a in answers], rtol=1e-12)
                    np.testing.assert_allclose(scorer.deviation(ROWS), [a["deviation"] for a in answers], rtol=1e-9)
                case "class":
                    self.assertEqual(scorer.predict(ROWS).tolist(), [a["class"] for a in answers])
                    self.assertTrue(np.isnan(scorer.deviation(ROWS)).all())
                case "reward":
                    want = [[a["scores"]["left"], a["scores"]["right"]] for a in answers]
                    np.testing.assert_allclose(value, want, rtol=1e-12)
                    self.assertEqual(scorer.predict(ROWS).tolist(), np.argmax(want, axis=1).tolist())
        self.assertIsNone(scorer.latest().age)

    def test_bands_are_those_of_go(self) -> None:
        members = {"band_low": -1.5, "band_high": 0.56, "band_level": 0.9, "band_error_most": 0.01}
        file = deployment(self.folder, predicts="mean", offset=2.5, extras=dict(members))
        scorer = Scorer.from_file(file)
        np.testing.assert_allclose(scorer.band(ROWS), [a["band"] for a in asked(file, ROWS)], rtol=1e-12)
        self.assertEqual(scorer.latest().band_level, 0.9)
        self.assertRaises(AttributeError, scorer.label_set, ROWS)
        file = deployment(self.folder, predicts="log-odds", extras=dict(members))
        scorer = Scorer.from_file(file)
        got = [[label for label, has in zip((-1, 1), row) if has] for row in scorer.label_set(ROWS).tolist()]
        self.assertEqual(got, [a["labels"] for a in asked(file, ROWS)])
        self.assertTrue({1, 2} <= {len(labels) for labels in got}, "rows do not tell sets apart")
        self.assertRaises(AttributeError, scorer.band, ROWS)
        scorer = Scorer.from_file(deployment(self.folder, predicts="mean"))
        self.assertRaises(LookupError, scorer.band, ROWS)

    def test_every_form_of_rows_has_the_same_scores(self) -> None:
        scorer = Scorer.from_file(deployment(self.folder, predicts="log-odds", noise=NOISE))
        want = scorer.predict_proba(ROWS)
        columns = {name: [row[name] for row in ROWS] for name in ROWS[0]}
        for rows in (columns, pandas.DataFrame(columns), polars.DataFrame(columns), {k: np.array(v) for k, v in columns.items()},
                     pandas.DataFrame(columns).astype({"carrier": "category"}),
                     polars.DataFrame(columns).with_columns(polars.col("carrier").cast(polars.Categorical))):
            self.assertEqual(scorer.predict_proba(rows).tolist(), want.tolist(), type(rows))
        self.assertEqual(scorer.predict_proba([]).shape[0], 0)

    def test_streams_are_named(self) -> None:
        file = deployment(self.folder, predicts="mean")
        file.write_text(file.read_text() + file.read_text().splitlines()[-1].replace("trips", "other") + "\n")
        scorer = Scorer.from_file(file)
        self.assertRaises(LookupError, scorer.latest)
        self.assertRaises(LookupError, scorer.latest, "none")
        self.assertEqual(scorer.latest("other").stream, "other")
        self.assertEqual([murmur2(k) for k in (b"21", b"foobar", b"abc")], [2**32 - 973932308, 2**32 - 790332482, 479470107])

    def test_estimators(self) -> None:
        scorer = Scorer.from_file(deployment(self.folder, predicts="log-odds", noise=NOISE))
        pipeline = make_pipeline(Vectorizer(scorer), Classifier(scorer)).fit(pandas.DataFrame(ROWS))
        np.testing.assert_allclose(pipeline.predict_proba(pandas.DataFrame(ROWS)), scorer.predict_proba(ROWS), rtol=1e-12)
        self.assertEqual(pipeline.predict(ROWS).tolist(), scorer.predict(ROWS).tolist())
        self.assertEqual(pipeline.score(ROWS, scorer.predict(ROWS)), 1.0)
        self.assertEqual(pipeline[-1].n_features_in_, D)

    def test_estimators_have_the_bands_of_the_scorer(self) -> None:
        members = {"band_low": -1.5, "band_high": 0.56, "band_level": 0.9, "band_error_most": 0.01}
        rows = pandas.DataFrame(ROWS)
        scorer = Scorer.from_file(deployment(self.folder, predicts="mean", offset=2.5, bounds=[0, 1], extras=dict(members)))
        x = Vectorizer(scorer).transform(rows)
        regressor = Regressor(scorer).fit(x)
        np.testing.assert_allclose(regressor.predict_interval(x), scorer.band(ROWS), rtol=1e-12)
        self.assertEqual(regressor.band_level_, 0.9)
        scorer = Scorer.from_file(deployment(self.folder, predicts="log-odds", extras=dict(members)))
        classifier = Classifier(scorer).fit(x)
        got = classifier.predict_set(x)
        self.assertEqual(got.tolist(), scorer.label_set(ROWS).tolist())
        self.assertTrue({1, 2} <= set(got.sum(axis=1).tolist()), "rows do not tell sets apart")
        # A newer decision is taken by fit alone, with its weights.
        scorer.take(json.dumps({
            "stream": "trips", "step": 41, "decision": [0.0] * D, **members, "band_high": 0.1}).encode())
        self.assertEqual(classifier.predict_set(x).tolist(), got.tolist())
        self.assertFalse(classifier.fit(x).predict_set(x).any())
        without = Regressor(Scorer.from_file(deployment(self.folder, predicts="mean")))
        self.assertRaises(NotFittedError, without.predict_interval, x)
        self.assertRaises(LookupError, without.fit(x).predict_interval, x)

    def test_estimator_checks(self) -> None:
        """scikit-learn's own. A check of so many features has a model of as many weights. Labels are those that Oriel has
        learned: two checks want others.
        """
        labels = {"check_classifiers_one_label", "check_classifiers_classes"}
        for estimator, predicts, unfit in ((Classifier, "log-odds", labels), (Regressor, "mean", set()), (Vectorizer, "mean", set())):
            passed, failed = set(), {}
            for d in (1, 2, 3, 4, 5, 10):
                scorer = Scorer.from_file(deployment(self.folder, d, predicts=predicts))
                with warnings.catch_warnings(action="ignore"):
                    checks = check_estimator(estimator(scorer), on_fail=None, on_skip=None)
                passed |= {c["check_name"] for c in checks if c["status"] == "passed"}
                failed |= {c["check_name"]: c["exception"] for c in checks if c["status"] == "failed"}
            self.assertEqual({name: e for name, e in failed.items() if name not in passed | unfit}, {}, estimator)
            self.assertGreaterEqual(len(passed), 1 if estimator is Vectorizer else 47)


if __name__ == "__main__":
    unittest.main()
