"""The linear part of a model as scikit-learn has it: a transformer that makes vectors of rows, and estimators over them.

    pipeline = make_pipeline(Vectorizer(scorer), Classifier(scorer))

Nothing is fitted: fit checks its input, and takes the weights that are newest then.
"""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .hashing import Floats
from .scorer import Scorer, probabilities


class Vectorizer(TransformerMixin, BaseEstimator):
    """Makes a dense matrix, a column for each coordinate, of rows in any form that Scorer takes."""

    def __init__(self, scorer: Scorer | None = None) -> None:
        self.scorer = scorer

    def fit(self, rows: Any, y: Any = None) -> "Vectorizer":
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return self.scorer is not None

    def transform(self, rows: Any) -> Floats:
        check_is_fitted(self)
        vector = self.scorer.descriptor.vector
        parts = []
        for b in vector.batches(rows):
            x = np.zeros((b.values.shape[1], vector.dimension))
            for index, value, there in zip(b.indices, b.values, b.there):
                x[np.flatnonzero(there), index[there]] = value[there]
            x[~b.valid] = np.nan
            parts.append((b.places, x))
        out = np.empty((sum(len(x) for _, x in parts), vector.dimension))
        for places, x in parts:
            out[places] = x
        return out


class _Linear(BaseEstimator):
    def __init__(self, scorer: Scorer | None = None) -> None:
        self.scorer = scorer

    def fit(self, X: Any, y: Any = None) -> Any:
        if self.scorer is None:
            raise ValueError("scorer: not set")
        X = validate_data(self, X)
        model = self.scorer.latest()
        if len(self.scorer.descriptor.arms):
            raise ValueError("scorer: weights of several arms")
        if X.shape[1] != len(model.weights):
            raise ValueError(f"X has {X.shape[1]} features, and the model {len(model.weights)} weights")
        self.coef_, self.intercept_ = model.weights.copy(), self.scorer.descriptor.offset
        return self

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        return validate_data(self, X, reset=False) @ self.coef_ + self.intercept_


class Classifier(ClassifierMixin, _Linear):
    """Of models that predict log-odds or a class."""

    def fit(self, X: Any, y: Any = None) -> "Classifier":
        super().fit(X, y)
        if self.scorer.descriptor.predicts not in ("log-odds", "class"):
            raise ValueError(f"scorer: it predicts {self.scorer.descriptor.predicts}")
        self.classes_ = np.array([0, 1] if self.scorer.descriptor.predicts == "log-odds" else [-1, 1])
        return self

    def decision_function(self, X: Any) -> Floats:
        return self._scores(X)

    def predict(self, X: Any) -> Any:
        return self.scorer.labels(self._scores(X))

    def predict_proba(self, X: Any) -> Floats:
        return probabilities(self._scores(X))


class Regressor(RegressorMixin, _Linear):
    """Of models that predict a mean or a quantile."""

    def predict(self, X: Any) -> Floats:
        return self.scorer.labels(self._scores(X))
