"""Rows of features in any form that Python has, as columns."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Column = tuple[str, NDArray[Any]]


def blocks(rows: Any) -> Iterator[tuple[NDArray[np.int64] | None, int, list[Column]]]:
    """Gives blocks of rows that have the same features in the same order: their places (None: all rows, in order), how
    many there are, and their columns.

    rows is a pandas or Polars data frame, a dictionary of columns, or a sequence of dictionaries.
    """
    if hasattr(rows, "columns") and hasattr(rows, "__getitem__"):
        columns = [(str(name), _array(rows[name])) for name in rows.columns]
        yield None, len(rows), columns
    elif isinstance(rows, Mapping):
        columns = [(name, _array(values)) for name, values in rows.items()]
        counts = {len(values) for _, values in columns}
        if len(counts) > 1:
            raise ValueError("columns: of different lengths")
        yield None, counts.pop() if counts else 0, columns
    elif isinstance(rows, np.ndarray):
        raise TypeError("rows: an array without names; give a data frame, columns or dictionaries")
    else:
        yield from _of_dictionaries(rows)


def _of_dictionaries(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[NDArray[np.int64], int, list[Column]]]:
    alike: dict[tuple[str, ...], list[int]] = {}
    for place, row in enumerate(rows):
        alike.setdefault(tuple(row), []).append(place)
    for names, places in alike.items():
        values = zip(*[rows[i].values() for i in places]) if names else ()
        columns = [(name, _objects(column)) for name, column in zip(names, values)]
        yield np.array(places, np.int64), len(places), columns


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    column = np.empty(len(values), object)
    column[:] = values
    return column


def _array(values: Any) -> NDArray[Any]:
    if isinstance(values, (list, tuple)):
        return _objects(values)
    if hasattr(values, "cat") or str(getattr(values, "dtype", "")) in ("category", "string", "str", "String"):
        return _objects(list(values))
    column = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
    if column.ndim != 1:
        raise ValueError("columns: one has more than one dimension")
    return column


def kinds(name: str, column: NDArray[Any]) -> Iterator[tuple[str, NDArray[np.bool_] | None, NDArray[Any]]]:
    """Gives the texts, numbers and truths of a column: which rows have one (None: all), and their values in order. A
    missing value (None, NaN, NaT) is a feature that the row does not have.
    """
    kind = column.dtype.kind
    if kind == "U":
        yield "text", None, _objects(column.tolist())
    elif kind == "b":
        yield "truth", None, column
    elif kind in "iu":
        yield "number", None, column.astype(np.float64)
    elif kind == "f":
        yield from _numbers(column.astype(np.float64))
    elif kind == "O":
        yield from _mixed(name, column)
    else:
        raise TypeError(f"feature {name!r}: neither text, number nor truth")


def _numbers(column: NDArray[np.float64]) -> Iterator[tuple[str, NDArray[np.bool_] | None, NDArray[Any]]]:
    there = ~np.isnan(column)
    yield ("number", None, column) if there.all() else ("number", there, column[there])


def _mixed(name: str, column: NDArray[Any]) -> Iterator[tuple[str, NDArray[np.bool_] | None, NDArray[Any]]]:
    listed = column.tolist()
    of = {t: _kind(name, t) for t in set(map(type, listed))}
    everywhere = set(of.values())
    types = None if len(everywhere) == 1 else np.array(list(map(of.__getitem__, map(type, listed))))
    for kind in sorted(everywhere - {"missing"}):  # a row has one of them at most
        has = None if types is None else types == kind
        values = column if has is None else column[has]
        if kind == "text":
            yield kind, has, values
        elif kind == "truth":
            yield kind, has, values.astype(np.bool_)
        else:
            try:
                numbers = values.astype(np.float64)
            except OverflowError:
                raise ValueError(f"feature {name!r}: not a finite number") from None
            for _, there, kept in _numbers(numbers):
                if has is None:
                    yield kind, there, kept
                else:
                    if there is not None:
                        has[np.flatnonzero(has)[~there]] = False
                    yield kind, has, kept


def _kind(name: str, t: type) -> str:
    if issubclass(t, (bool, np.bool_)):
        return "truth"
    if issubclass(t, (int, float, np.integer, np.floating)):
        return "number"
    if issubclass(t, str):
        return "text"
    if t is type(None) or t.__name__ in ("NAType", "NaTType"):
        return "missing"
    raise TypeError(f"feature {name!r}: neither text, number nor truth")
