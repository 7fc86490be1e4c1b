"""Decisions as Python has JSON, whichever encoding ORIEL_DECISIONS_FORMAT gives them; their points, whichever form
ORIEL_DECISIONS gives them; and what an action of linucb says to play. A consumer may copy this file alone, and needs no
packages:

    from decisions import dense, read, score
    decision = read(record.value)["decision"]
    point = dense(decision)
    cost = score(decision, {3: 0.5, 17: 2.0})
"""

import json
import struct
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
Decision = dict[str, Any]


def read(value: bytes) -> Decision:
    """Gives a decision as json.loads does, from the bytes of a record in any encoding."""
    if value[:1] == b"{":
        decision: Decision = json.loads(value)
        return decision
    if value[:1] == b"\0":  # the id of a schema; behind it the message's place in its file, or an Avro record
        return from_protobuf(value[6:]) if value[5:6] == b"\0" else Avro(value[5:]).decision()
    if value[:1] == b"\n":
        return from_protobuf(value)
    if value[:10] == bytes.fromhex("c301bb5cec5dc4a1d7c0"):
        return Avro(value[10:]).decision()
    raise ValueError("not a decision")


def uvarint(b: bytes, i: int) -> tuple[int, int]:
    """Gives a number of seven bits a byte, the lowest first, and the place behind it."""
    n = shift = 0
    while True:
        n, shift, i = n | (b[i] & 127) << shift, shift + 7, i + 1
        if b[i - 1] < 128:
            return n, i


def doubles(b: bytes) -> list[float]:
    return list(struct.unpack(f"<{len(b) // 8}d", b))


def fields(b: bytes) -> dict[int, list[Any]]:
    """Gives lists of what the fields of a Protobuf message hold, by number: whole numbers, or bytes."""
    found: dict[int, list[Any]] = {}
    i = 0
    while i < len(b):
        tag, i = uvarint(b, i)
        size = {1: 8, 5: 4}.get(tag & 7, 0)
        if tag & 7 == 2:
            size, i = uvarint(b, i)
        value: bytes | int
        value, i = (b[i:i + size], i + size) if tag & 7 else uvarint(b, i)
        found.setdefault(tag >> 3, []).append(value)
    return found


def uvarints(b: bytes) -> list[int]:
    numbers, i = [], 0
    while i < len(b):
        n, i = uvarint(b, i)
        numbers.append(n)
    return numbers


def first(of: dict[int, list[Any]], number: int, other: Any) -> Any:
    return of.get(number, [other])[0]


def number(of: dict[int, list[Any]], field: int) -> float:
    return doubles(first(of, field, bytes(8)))[0]


def from_protobuf(b: bytes) -> Decision:
    """decision.proto."""
    f = fields(b)
    point: Any = doubles(first(f, 5, b""))
    if 6 in f:
        s = fields(f[6][0])
        point = {"dimension": first(s, 1, 0), "values": doubles(first(s, 2, b"")),
                 "indices": [uvarints(fields(indices)[1][0]) for indices in s.get(3, [])]}
    d = {"stream": f[1][0].decode(), "incarnation": f[2][0].hex(), "index": first(f, 3, 0), "step": first(f, 4, 0),
         "decision": point, "mechanism": first(f, 7, b"").decode(), "window": first(f, 8, 0), "batch": first(f, 9, 0),
         "epsilon": number(f, 10), "delta": number(f, 11), "adjacency": ADJACENCIES[f[12][0] - 1],
         "unit": UNITS[f[13][0] - 1]}
    value: Any
    for member in map(fields, f.get(14, [])):
        if 2 in member:
            value = number(member, 2)
        elif 3 in member:
            value = doubles(first(fields(member[3][0]), 1, b""))
        elif 5 in member:
            value = [{"name": first(e, 1, b"").decode(), "count": first(e, 2, 0), "low": first(e, 3, 0),
                      "high": first(e, 4, 0)} for e in map(fields, fields(member[5][0]).get(1, []))]
        else:
            value = member[4][0].decode()
        d[member[1][0].decode()] = value
    return d


ADJACENCIES, UNITS = ["replace", "zero-out", "add-remove"], ["event", "user", "user-period"]


class Avro:
    """decision.avsc."""

    def __init__(self, b: bytes) -> None:
        self.b, self.i = b, 0

    def cut(self, size: int) -> bytes:
        self.i += size
        return self.b[self.i - size:self.i]

    def long(self) -> int:
        n, self.i = uvarint(self.b, self.i)
        return n >> 1 ^ -(n & 1)

    def text(self) -> str:
        return self.cut(self.long()).decode()

    def double(self) -> float:
        return doubles(self.cut(8))[0]

    def array(self, element: Callable[[], T]) -> list[T]:
        found: list[T] = []
        while count := self.long():
            found += [element() for _ in range(count)]
        return found

    def numbers(self) -> list[float]:
        return self.array(self.double)

    def sparse(self) -> Decision:
        return {"dimension": self.long(), "values": self.numbers(), "indices": self.array(lambda: self.array(self.long))}

    def entry(self) -> Decision:
        return {"name": self.text(), "count": self.long(), "low": self.long(), "high": self.long()}

    def list(self) -> list[Decision]:
        return self.array(self.entry)

    def decision(self) -> Decision:
        d = {"stream": self.text(), "incarnation": self.cut(16).hex(), "index": self.long(), "step": self.long(),
             "decision": (self.numbers, self.sparse)[self.long()](), "mechanism": self.text(), "window": self.long(),
             "batch": self.long(), "epsilon": self.double(), "delta": self.double(), "adjacency": ADJACENCIES[self.long()],
             "unit": UNITS[self.long()]}
        d.update(self.array(lambda: (self.text(), (self.double, self.numbers, self.text, self.list)[self.long()]())))
        return d


def dense(decision: Any) -> list[float]:
    """Gives a number for each coordinate."""
    if isinstance(decision, list):
        return decision
    point = [0.0] * decision["dimension"]
    for value, indices in zip(decision["values"], decision["indices"]):
        for i in indices:
            point[i] = value
    return point


def score(decision: Any, weights: dict[int, float]) -> float:
    """Gives the inner product with weights, a dictionary by coordinate, without making the point dense."""
    if isinstance(decision, list):
        return sum((w * decision[i] for i, w in weights.items()), 0.0)
    return sum((value * sum(weights.get(i, 0.0) for i in indices)
                for value, indices in zip(decision["values"], decision["indices"])), 0.0)


def to_play(action: Decision) -> int | None:
    """Gives the place of what to play for the context action["key"]. None: the action plays nothing, since it answers a
    reward, or a record that is no context or has no room to wait."""
    if action["answers"] != "context" or action["decision"][0] < 0:
        return None
    return int(action["decision"][0])
