"""Features of raw records are those of Go, to the bit, on the committed vectors, and by `oriel score`, which ORIEL is the
program of.
"""

import datetime
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import warnings

import numpy as np
import pandas
import polars
from sklearn.pipeline import make_pipeline

from oriel import Range, Scorer, Vector
from oriel.mapping import Fault, Item, Mapping
from oriel.sklearn import Classifier, Vectorizer
from test_hashing import bits
from test_scorer import deployment

ROOT = pathlib.Path(__file__).parents[3]
MAP = {"where": ["status!=void", "/late!="], "label": "late>15", "features": [
    "country", "/order/income:number", {"name": "hour", "from": "/at", "as": "hour", "zone": "CET-1CEST,M3.5.0,M10.5.0/3"}],
    "members": ["weight=w"]}
RECORDS = [
    {"country": "DE", "order": {"income": 1200}, "at": "2024-05-01T23:30:00Z", "status": "open", "late": 20, "w": 2},
    {"country": "FR", "order": {"income": "0"}, "at": "2024-05-01T03:30:00+02:00", "status": "open"},
    {"country": "DE", "order": {"income": "n/a"}, "at": None, "status": "open"},
    {"country": None, "order": {}, "status": "void"},
    {"country": "é", "order": {"income": 0}},
]


class Mappings(unittest.TestCase):
    def setUp(self) -> None:
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.file = deployment(held.name, predicts="log-odds", map=MAP)

    def test_committed_vectors(self) -> None:
        vector = Vector(32, True, "unit", (Range("hour", 0, 24, True), Range("total", 0, 500)))
        events = 0
        for case in json.loads((ROOT / "schemas/testdata/mapping.json").read_text()):
            mapping = Mapping(case["map"])
            for r in case["records"]:
                said = (case["map"], r)
                if r.get("code") not in (None, "feature_overflow"):
                    self.assertRaises(Fault, mapping.features, r["record"])
                    continue
                features = mapping.features(r["record"])
                (batch,) = vector.batches([features])
                if "code" in r:
                    self.assertFalse(batch.valid[0], said)
                    continue
                self.assertEqual(list(features.items()), list(r["features"].items()), said)
                self.assertEqual([type(x) is bool for x in features.values()], [type(x) is bool for x in r["features"].values()])
                indices, values = batch.row(0)
                self.assertEqual((indices, bits(values)), (r["indices"], bits(list(map(float, r["values"])))), said)
                events += 1
        self.assertGreater(events, 60)

    def test_scores_of_raw_records_are_those_of_go(self) -> None:
        lines = "".join(json.dumps(record) + "\n" for record in RECORDS)
        said = subprocess.run([os.environ["ORIEL"], "score", "--decisions", self.file], input=lines, capture_output=True, text=True,
                              env={"PATH": os.environ["PATH"]})
        answers = [json.loads(line) for line in said.stdout.splitlines()]
        self.assertEqual(["error" in a for a in answers], [False, False, True, True, False], answers)
        self.assertEqual(answers[3]["error"], "filtered")  # by the status, with or without a label
        scorer = Scorer.from_file(self.file)
        with self.assertWarnsRegex(UserWarning, "2 of 5 rows are no events.* row 2: feature 'income': not a number"):
            got = scorer.decision_function(RECORDS)
        want = [a.get("log_odds", np.nan) for a in answers]
        np.testing.assert_allclose(got, want, rtol=1e-12)
        self.assertEqual(len(set(got[[0, 1, 4]])), 3)
        with self.assertWarns(UserWarning):
            labels = scorer.predict(RECORDS)
        np.testing.assert_array_equal(labels, np.where(np.isnan(want), np.nan, got > 0))
        self.assertEqual(scorer.predict(RECORDS[:2]).dtype, np.int64)

    def test_every_form_of_rows_has_the_same_scores(self) -> None:
        rows = [dict(r, order=dict(r["order"])) for r in RECORDS[:2]]
        scorer = Scorer.from_file(self.file)
        want = scorer.predict_proba(rows).tolist()
        columns = {name: [row.get(name) for row in rows] for name in rows[0]}
        for given in (columns, pandas.DataFrame(columns), polars.DataFrame(
                {**columns, "order": [{"income": 1200.0}, {"income": 0.0}]})):
            self.assertEqual(scorer.predict_proba(given).tolist(), want, type(given))
        timed = pandas.DataFrame(columns)
        timed["at"] = pandas.to_datetime(timed["at"], utc=True)
        self.assertEqual(scorer.predict_proba(timed).tolist(), want)
        pipeline = make_pipeline(Vectorizer(scorer), Classifier(scorer)).fit(timed)
        np.testing.assert_allclose(pipeline.predict_proba(timed), want, rtol=1e-12)
        self.assertEqual(scorer.predict_proba([]).shape[0], 0)

    def test_members_without_a_path_are_refused_or_named(self) -> None:
        """Labels and members that the mapping knows are not: they change nothing."""
        rows = [{**RECORDS[0], "id": "secret", "order": {"income": 1200, "incom": 3}}]
        for row in rows:
            plain = {name: value for name, value in row.items() if name not in ("late", "w", "id")}
        want = Scorer.from_file(self.file, unknown="ignore").decision_function([plain]).tolist()
        with self.assertRaisesRegex(ValueError, "/order/incom, /id; ") as caught:
            Scorer.from_file(self.file).predict_proba(rows)
        self.assertNotIn("secret", str(caught.exception))
        with self.assertWarnsRegex(UserWarning, "/order/incom, /id"):
            self.assertEqual(Scorer.from_file(self.file, unknown="warn").decision_function(rows).tolist(), want)
        with warnings.catch_warnings(action="error"):
            self.assertEqual(Scorer.from_file(self.file, unknown="ignore").decision_function(rows).tolist(), want)
            self.assertEqual(Scorer.from_file(self.file).decision_function([{**RECORDS[0]}]).tolist(), want)
        self.assertRaises(ValueError, Scorer.from_file, self.file, unknown="drop")

    def test_members_of_list_elements_have_paths(self) -> None:
        mapping = Mapping({"features": ["/items/1/price:number"]})
        with self.assertRaisesRegex(ValueError, "/items/1/prise; "):
            mapping.all_features([{"items": [{"prise": 1}, {"price": 2, "prise": 3}]}], "refuse")
        self.assertEqual(mapping.all_features([{"items": [{"prise": 1}, {"price": 2}]}], "refuse"), ([{"price": 2.0}], []))

    def test_events_in_the_own_form_have_the_scores_of_their_features(self) -> None:
        scorer = Scorer.from_file(deployment(str(self.file.parent), predicts="log-odds"))
        features = [{"carrier": "UA", "hour": 3}, {"carrier": "AA"}]
        want = scorer.decision_function(features).tolist()
        events = [{"features": f, "label": label} for f, label in zip(features, (0, 1))]
        self.assertEqual(scorer.decision_function(events).tolist(), want)
        for bad in ({"id": 7}, {"features": 3}):
            self.assertRaises(ValueError, scorer.decision_function, [events[0], {**events[1], **bad}])

    def test_times_of_data_frames(self) -> None:
        item = Item.of({"name": "hour", "from": "t", "as": "hour", "zone": "+02:00"})
        utc = datetime.timezone.utc
        for value, want in (
                (datetime.datetime(2024, 5, 1, 23, 30, tzinfo=utc), 1.0), (datetime.datetime(2024, 5, 1, 23, 30), 23.0),
                (datetime.date(2024, 5, 1), 0.0), (np.datetime64("2024-05-01T05:00"), 5.0), (pandas.NaT, None),
                (np.datetime64("NaT"), None), (pandas.NA, None), (float("nan"), None)):
            self.assertEqual(item.read({"t": value}), want, value)
        for rule in ("t", "t:number", "t:text", {"name": "x", "compare": "t>5"}):
            self.assertRaises(Fault, Item.of(rule).read, {"t": datetime.date(2024, 5, 1)})

    def test_what_go_decides_anew_is_decided_alike(self) -> None:
        days = {"name": "d", "from": "t", "as": "weekday", "epoch": "d", "zone": "-08:00"}
        for value, want in ((0, 4.0), (19843, 2.0), ("-1", 3.0)):
            self.assertEqual(Item.of(days).read({"t": value}), want)
        self.assertRaises(Fault, Item.of(days).read, {"t": 0.5})
        for part, want in (("seconds", -0.001), ("hour", 23.0), ("day", 31.0), ("month", 12.0)):
            self.assertEqual(Item.of({"name": part, "from": "t", "as": part, "epoch": "ms"}).read({"t": -1}), want)
        namibia = Item.of({"name": "x", "compare": "country=NA"})
        self.assertEqual([namibia.read({"country": c}) for c in ("NA", "", "DE")], [True, False, False])
        self.assertRaises(Fault, Item.of({"name": "x", "compare": "t>15"}).read, {"t": "n/a"})


if __name__ == "__main__":
    unittest.main()
