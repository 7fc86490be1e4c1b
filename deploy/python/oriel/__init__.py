"""Scores events with the decisions that Oriel publishes. numpy is all that it needs.

    from oriel import Scorer
    scorer = Scorer.from_topic("late.decisions", "localhost:9092")  # needs confluent-kafka
    scorer.predict_proba([{"carrier": "UA", "hour": 17, "distance": 1400}])
"""

from .decisions import dense, read
from .hashing import Range, Vector
from .scorer import Model, Scorer

__all__ = ["Model", "Range", "Scorer", "Vector", "dense", "read"]
