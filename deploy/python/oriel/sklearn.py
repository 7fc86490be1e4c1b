"""The linear part of a model as scikit-learn has it: a transformer that makes vectors of rows, and estimators over them.

    pipeline = make_pipeline(Vectorizer(scorer), Classifier(scorer))

Nothing is fitted: fit checks its input, and takes the weights and the band that are newest then.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.utils import Tags, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from .hashing import Floats
from .scorer import Scorer, intervals, label_sets, probabilities


def given(scorer: Scorer | None) -> Scorer:
    if scorer is None:
        raise ValueError("scorer: not set")
    return scorer


class Vectorizer(TransformerMixin, BaseEstimator):
    """Makes a dense matrix, a column for each coordinate, of rows in any form that Scorer takes."""

    def __init__(self, scorer: Scorer | None = None) -> None:
        self.scorer = scorer

    def fit(self, rows: Any, y: Any = None) -> "Vectorizer":
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return self.scorer is not None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.requires_fit, tags.no_validation = False, True  # rows are no array
        tags.input_tags.two_d_array, tags.input_tags.dict, tags.input_tags.allow_nan = False, True, True
        return tags

    def transform(self, rows: Any) -> Floats:
        check_is_fitted(self)
        scorer = given(self.scorer)
        vector, parts = scorer.descriptor.vector, []
        for b in scorer.descriptor.batches(rows, scorer.unknown):
            x = np.zeros((b.values.shape[1], vector.dimension))
            for index, value, there in zip(b.indices, b.values, b.there):
                x[np.flatnonzero(there), index[there]] = value[there]
            x[~b.valid] = np.nan
            parts.append((b.places, x))
        out = np.empty((sum(len(x) for _, x in parts), vector.dimension))
        for places, x in parts:
            out[places] = x
        return out


class _Learned:
    """Labels are looked at and not learned from. It stands before the mixins, whose tags it changes."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.required = False
        if tags.classifier_tags is not None:
            tags.classifier_tags.poor_score, tags.classifier_tags.multi_class = True, False
        if tags.regressor_tags is not None:
            tags.regressor_tags.poor_score = True
        return tags


class _Linear(BaseEstimator):
    def __init__(self, scorer: Scorer | None = None) -> None:
        self.scorer = scorer

    def fit(self, X: Any, y: Any = None) -> Any:
        scorer = given(self.scorer)
        if y is None:
            X = validate_data(self, X)
        else:
            X, y = validate_data(self, X, column_or_1d(y, warn=True))
        model = scorer.latest()
        if len(scorer.descriptor.arms):
            raise ValueError("scorer: weights of several arms")
        if X.shape[1] != len(model.weights):
            raise ValueError(f"X has {X.shape[1]} features, and the model {len(model.weights)} weights")
        self.coef_, self.intercept_ = model.weights.copy(), scorer.descriptor.offset
        self.band_, self.band_level_ = model.band, model.band_level
        return self

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, reset=False) @ self.coef_ + self.intercept_)

    def _band(self) -> tuple[float, float]:
        check_is_fitted(self)
        if self.band_ is None:
            raise LookupError("the decision has no band")
        return self.band_


class Classifier(_Learned, ClassifierMixin, _Linear):
    """Of models that predict log-odds or a class."""

    def fit(self, X: Any, y: Any = None) -> "Classifier":
        if y is not None:
            check_classification_targets(y)
            if type_of_target(y) == "multiclass":
                raise ValueError("Only binary classification is supported. The type of the target is multiclass.")
        super().fit(X, y)
        predicts = given(self.scorer).descriptor.predicts
        if predicts not in ("log-odds", "class"):
            raise ValueError(f"scorer: it predicts {predicts}")
        self.classes_ = np.array([0, 1] if predicts == "log-odds" else [-1, 1])
        return self

    def decision_function(self, X: Any) -> Floats:
        return self._scores(X)

    def predict(self, X: Any) -> Any:
        return given(self.scorer).labels(self._scores(X))

    def predict_proba(self, X: Any) -> Floats:
        return probabilities(self._scores(X))

    def predict_set(self, X: Any) -> NDArray[np.bool_]:
        """Tells which of classes_ are in the set of labels of each row: a column each; neither may be. Of all events
        band_level_ have their label in it in the long run. LookupError: the decision has no band.
        """
        band = self._band()
        return label_sets(self._scores(X), band)


class Regressor(_Learned, RegressorMixin, _Linear):
    """Of models that predict a mean or a quantile."""

    def predict(self, X: Any) -> Floats:
        return given(self.scorer).labels(self._scores(X))

    def predict_interval(self, X: Any) -> Floats:
        """Gives the lower and the upper end of the band for the label of each row. Of all events band_level_ are within in
        the long run. LookupError: the decision has no band.
        """
        band = self._band()
        return intervals(self._scores(X), band)
