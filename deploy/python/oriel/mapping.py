"""Features of raw records, by the mapping of a deployment (ORIEL_MAP), which the descriptor carries. The rules are those
of the Go package schemas/mapping for JSON records, to the bit: schemas/testdata/mapping.json has an example of each.

Labels and other members of events are not read, because a record to score needs none.
"""

import datetime
import decimal
import math
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping as Record
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .calendar import DAY, EARLIEST, LATEST, Zone, date_of, parse_instant

TIMES = ("hour", "weekday", "day", "month", "seconds")
TYPES = ("number", "text", "bool", *TIMES)
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
OPERATOR = re.compile("!=|>=|<=|=|>|<")

Path = tuple[str, ...]
Features = dict[str, Any]


class Fault(ValueError):
    """The rule that makes a record no event. It never holds a value of the record."""


class Moment(str):
    """The text of a time that is no text in the record, but a datetime of Python, numpy or pandas."""


class Other:
    """A value that no feature can be: a list, an object, bytes."""


Value = str | float | bool | Moment | Other | None


def path_of(text: str) -> Path:
    """Parses a JSON pointer, or the name of a top-level member."""
    if not text.startswith("/"):
        return (text,)
    return tuple(name.replace("~1", "/").replace("~0", "~") for name in text[1:].split("/"))


def is_index(name: str) -> bool:
    return name.isascii() and name.isdigit() and str(int(name)) == name


def find(record: Any, path: Path) -> Value:
    """Returns the value at a path; None: there is none, or it is null."""
    for name in path:
        if isinstance(record, Record):
            record = record.get(name)
        elif isinstance(record, (list, tuple, np.ndarray)) and is_index(name) and int(name) < len(record):
            record = record[int(name)]
        else:
            return None
    return plain(record)


def plain(value: Any) -> Value:
    """Returns a value in the form of JSON. NaN, NaT and NA of data frames are null."""
    match value:
        case None:
            return None
        case bool() | np.bool_():
            return bool(value)
        case str():
            return value
        case int() | float() | np.integer() | np.floating() | decimal.Decimal():
            if value != value:
                return None
            try:
                number = float(value)
            except OverflowError:
                number = math.inf
            if math.isinf(number):
                raise Fault("a number is beyond a float64")
            return number
        case np.datetime64():
            return None if np.isnat(value) else Moment(value)
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, (datetime.datetime, datetime.date)):
        return Moment(value.isoformat())
    return Other()


def number_of(text: str) -> float | None:
    """Parses a text that is one finite decimal number."""
    if re.fullmatch("[0-9.eE+-]+", text) is None:
        return None
    try:
        x = float(text)
    except ValueError:
        return None
    return x if math.isfinite(x) else None


def text_of(x: float) -> str:
    """Writes a number as decisions do."""
    if x == math.trunc(x) and abs(x) < 1e15:
        return str(int(x))
    if 1e-6 <= abs(x) < 1e21:
        return format(decimal.Decimal(repr(x)), "f").removesuffix(".0")
    mantissa, _, exponent = repr(x).partition("e")
    return f"{mantissa}e{int(exponent):+d}"


@dataclass(frozen=True)
class Comparison:
    path: Path
    operator: str
    constant: str

    @classmethod
    def of(cls, text: str) -> "Comparison":
        if (at := OPERATOR.search(text)) is None:
            raise ValueError("descriptor: a mapping with a comparison without operator")
        return cls(path_of(text[:at.start()].strip()), at[0], text[at.end():].strip())

    def compares(self, value: Value) -> bool:
        """Says whether a value has an order with the constant. A text without a number has none with a number."""
        if self.operator in ("=", "!=") or number_of(self.constant) is None or value is None or value == "":
            return True
        if isinstance(value, str):
            return number_of(value) is not None
        return isinstance(value, float)

    def holds(self, value: Value) -> bool:
        missing = value is None or value == ""
        if missing or self.constant == "":
            same = missing and self.constant == ""
            return same if self.operator == "=" else not same if self.operator == "!=" else False
        if not self.compares(value):
            return False
        if isinstance(value, (Moment, Other)):
            return self.operator == "!="
        number = number_of(self.constant)
        mine: Any = value
        other: Any = self.constant
        if isinstance(value, bool):
            mine = "true" if value else "false"
        elif number is not None and isinstance(value, str) and (read := number_of(value)) is not None:
            mine, other = read, number
        elif number is not None and isinstance(value, float):
            other = number
        elif isinstance(value, float):
            mine = text_of(value)
        if isinstance(mine, str):  # as bytes of UTF-8, which have the order of code points
            other = self.constant
        match self.operator:
            case "=":
                return bool(mine == other)
            case "!=":
                return bool(mine != other)
            case "<":
                return bool(mine < other)
            case "<=":
                return bool(mine <= other)
            case ">":
                return bool(mine > other)
        return bool(mine >= other)


@dataclass(frozen=True)
class Item:
    """The rule for one feature."""

    name: str
    path: Path | None = None
    compare: Comparison | None = None
    constant: Value = None
    read_as: str = ""
    unit: str = ""  # of numbers that are times
    zone: Zone = Zone()
    scale: float = 1.0
    offset: float = 0.0

    @classmethod
    def of(cls, rule: Any) -> "Item":
        """Reads the short form of a rule, a text, or the long one."""
        if isinstance(rule, str):
            name, named, rest = rule.partition("=")
            text = rest if named and rest.startswith("/") else rule
            before, colon, last = text.rpartition(":")
            read_as = last if colon and last in TYPES else ""
            path = path_of(before if read_as else text)
            return cls(name if text is rest else path[-1], path, read_as=read_as)
        source = rule.get("from")
        path_text = source[0] if isinstance(source, list) else source
        at = None if path_text is None else path_of(path_text)
        return cls(
            rule.get("name") or (at[-1] if at else ""), at,
            Comparison.of(rule["compare"]) if "compare" in rule else None, plain(rule.get("constant")), rule.get("as", ""),
            rule.get("epoch", ""), Zone.of(rule["zone"]) if "zone" in rule else Zone(), float(rule.get("scale", 1)),
            float(rule.get("offset", 0)))

    def read(self, record: Any) -> Value:
        """Returns the feature of a record; None: the record does not have it."""
        if self.compare is not None:
            value = find(record, self.compare.path)
            if isinstance(value, (Moment, Other)) and self.compare.constant != "":
                raise Fault("a list, an object or a time is compared with a constant")
            if not self.compare.compares(value):
                raise Fault("a text is compared with a number")
            if value is not None or self.compare.constant == "":
                value = self.compare.holds(value)
        elif self.path is not None:
            value = find(record, self.path)
        else:
            value = self.constant
        return None if value is None else self._converted(value)

    def _converted(self, value: Value) -> Value:
        scales = self.scale != 1 or self.offset != 0
        read_as = self.read_as or ("number" if scales else "")
        if isinstance(value, Other):
            raise Fault("a list, an object or bytes")
        if read_as in TIMES:
            value = self._part(value)
        elif isinstance(value, Moment):
            raise Fault("a time")
        elif read_as == "bool":
            if not isinstance(value, bool):
                if value not in ("true", "false"):
                    raise Fault("neither true nor false")
                value = value == "true"
        elif read_as == "number":
            if isinstance(value, str) and (value := number_of(value)) is None:
                raise Fault("not a number")
            value = float(value)  # type: ignore[arg-type]  # no text is left
        if scales:
            value = value * self.scale + self.offset  # type: ignore[operator]  # a number by what it is read as
            if not math.isfinite(value):
                raise Fault("a scaled number is beyond a float64")
        if read_as != "text" or isinstance(value, str):
            return value
        return ("true" if value else "false") if isinstance(value, bool) else text_of(value)  # type: ignore[arg-type]

    def _part(self, value: Value) -> float:
        """Returns the part of a time, which is a text of ISO 8601 or a number that counts from the epoch."""
        number = value if isinstance(value, float) else None
        if isinstance(value, str) and self.unit:
            number = number_of(value)
        if isinstance(value, bool) or number is not None and not self.unit:
            raise Fault("not a time")
        if number is None:
            at = parse_instant(value) if isinstance(value, str) else None
            if at is None:
                raise Fault("not a time")
            seconds, nanos, local = at
        elif self.unit == "d":
            if number != math.floor(number) or not EARLIEST <= number * DAY < LATEST:
                raise Fault("not a time")
            seconds, nanos, local = int(number) * DAY, 0, True
        else:
            if not EARLIEST <= number / UNITS[self.unit] < LATEST:
                raise Fault("not a time")
            seconds, rest = divmod(math.floor(number), UNITS[self.unit])
            nanos, local = rest * (10**9 // UNITS[self.unit]), False
        if not EARLIEST <= seconds < LATEST:
            raise Fault("not a time")
        if self.read_as == "seconds":
            if number is not None and not local:
                return number / UNITS[self.unit]
            if local:
                seconds -= self.zone.offset(seconds - self.zone.standard)
            return (seconds * 10**9 + nanos) / 10**9  # a quotient of whole numbers, correctly rounded
        if not local:
            seconds += self.zone.offset(seconds)
        days, second = divmod(seconds, DAY)
        match self.read_as:
            case "hour":
                return float(second // 3600)
            case "weekday":
                return float((days + 3) % 7 + 1)
            case "day":
                return float(date_of(days)[2])
        return float(date_of(days)[1])


@dataclass
class Names:
    """The names of members that a mapping knows, and those below each."""

    below: dict[str, "Names"] = field(default_factory=dict)
    whole: bool = False  # a path ends here, so that all below is known

    def add(self, path: Path) -> None:
        at = self
        for name in path:
            at = at.below.setdefault(name, Names())
        at.whole = True

    def strange(self, record: Any, path: str = "") -> Iterator[str]:
        """Gives the paths of a record's members that the mapping does not know, the outermost ones."""
        if isinstance(record, Record):
            for name, value in record.items():
                at = f"{path}/{str(name).replace('~', '~0').replace('/', '~1')}"
                if name not in self.below:
                    yield at
                elif not self.below[name].whole:
                    yield from self.below[name].strange(value, at)
        elif isinstance(record, (list, tuple)):
            for name, known in self.below.items():
                if is_index(name) and int(name) < len(record) and not known.whole:
                    yield from known.strange(record[int(name)], f"{path}/{name}")


def label_of(document: dict[str, Any]) -> Path | None:
    """Returns the path of the label, which may be a member, too. None: no path gives the label."""
    rule = document.get("label")
    if isinstance(rule, str) and OPERATOR.search(rule):
        return Comparison.of(rule).path
    for member in document.get("members", []) if rule is None else []:
        if isinstance(member, str) and member.startswith("label="):
            rule = member.removeprefix("label=")
        elif not isinstance(member, str) and member["name"] == "label":
            rule = member
    if rule is None:
        return None
    item = Item.of(rule)
    return item.compare.path if item.compare else item.path


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


class Mapping:
    """A mapping: which records are events to score, and what their features are.

    Conditions on the path of the label are left out: a record to score usually has no label yet.
    """

    def __init__(self, document: dict[str, Any]) -> None:
        if not document.get("features"):
            raise ValueError("descriptor: a mapping without named features, whose records this package cannot read")
        self.items = [Item.of(rule) for rule in document["features"]]
        conditions = [Comparison.of(text) for text in listed(document.get("where", []))]
        self.names = Names()
        for item in self.items:
            self._know(item)
        for test in conditions:
            self.names.add(test.path)
        label = label_of(document)
        if label:
            self.names.add(label)
        self.where = [test for test in conditions if test.path != label]
        for rule in document.get("members", []):
            if isinstance(rule, str):
                for text in rule.partition("=")[2].split(","):
                    self._know(Item.of(text))
            elif "from" in rule:
                for text in listed(rule["from"]):
                    self.names.add(path_of(text))
            else:
                self._know(Item.of(rule))

    def _know(self, item: Item) -> None:
        for path in (item.path, item.compare and item.compare.path):
            if path:
                self.names.add(path)

    def features(self, record: Any) -> Features:
        """Returns the features of a record. Fault: the record is no event."""
        for test in self.where:
            if not test.holds(find(record, test.path)):
                raise Fault("the mapping's where leaves the record out")
        found = {}
        for item in self.items:
            try:
                value = item.read(record)
            except Fault as fault:
                raise Fault(f"feature {item.name!r}: {fault}") from None
            if value is not None:
                found[item.name] = value
        return found

    def all_features(self, rows: Any, unknown: str) -> tuple[list[Features], list[int]]:
        """Returns the features of rows, and the places of rows that are no events. unknown says what to do about members
        that no path of the mapping names: refuse, warn or ignore.
        """
        found: list[Features] = []
        bad: list[int] = []
        strange: dict[str, None] = {}
        first = ""
        for place, record in enumerate(records(rows)):
            if unknown != "ignore" and len(strange) < 20:
                strange.update(dict.fromkeys(self.names.strange(record)))
            try:
                found.append(self.features(record))
            except Fault as fault:
                first = first or f"row {place}: {fault}"
                bad.append(place)
                found.append({})
        if strange:
            said = f"the deployment's mapping reads no member {', '.join(strange)}; it reads {', '.join(self.names.below)}"
            if unknown == "refuse":
                raise ValueError(said + ". unknown='ignore' leaves such members out, as the deployment does")
            warnings.warn(said, stacklevel=5)
        if bad:
            warnings.warn(f"{len(bad)} of {len(found)} rows are no events, and have no score: {first}", stacklevel=5)
        return found, bad


def own_features(rows: Any) -> Any:
    """Returns the features of events in Oriel's own form, {"features": {…}, "label": 1}. Rows that are features already are
    returned as they are.
    """
    if not isinstance(rows, (list, tuple)) or not any(isinstance(row, Record) and isinstance(row.get("features"), Record) for row in rows):
        return rows
    strange = {name for row in rows for name in row} - {"features", "label", "weight"}
    if strange or not all(isinstance(row.get("features"), Record) for row in rows):
        raise ValueError(f"rows: not all are events with features, label and weight alone: {', '.join(sorted(strange))}")
    return [row["features"] for row in rows]


def records(rows: Any) -> Iterable[Any]:
    """Gives rows as records: of a data frame, a dictionary of columns, or a sequence of dictionaries."""
    if isinstance(rows, np.ndarray):
        raise TypeError("rows: an array without names; give a data frame, columns or dictionaries")
    names = None
    if hasattr(rows, "columns") and hasattr(rows, "__getitem__"):
        names = list(rows.columns)
    elif isinstance(rows, Record):
        names = list(rows)
    if names is None:
        return rows  # type: ignore[no-any-return]
    columns = [list(rows[name]) for name in names]
    if len({len(column) for column in columns}) > 1:
        raise ValueError("columns: of different lengths")
    return (dict(zip(map(str, names), values)) for values in zip(*columns))
