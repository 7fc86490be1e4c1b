"""XXH64 with seed 0 of many byte strings at once, from its specification."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

U64 = NDArray[np.uint64]

P1, P2, P3, P4, P5 = (np.uint64(p) for p in (
    0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5))
MASK = (1 << 64) - 1


def hashes(tokens: Sequence[bytes]) -> U64:
    """Gives the hash of each token. Those of one length are hashed side by side."""
    lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
    out = np.empty(len(tokens), np.uint64)
    order = np.argsort(lengths, kind="stable")
    starts = np.flatnonzero(np.diff(lengths[order], prepend=-1))
    for start, end in zip(starts, [*starts[1:], len(tokens)]):
        places = order[start:end]
        size = int(lengths[places[0]])
        text = b"".join([tokens[i] for i in places])
        out[places] = _of_one_length(np.frombuffer(text, np.uint8).reshape(len(places), size))
    return out


def _rotl(x: U64, r: int) -> U64:
    return (x << np.uint64(r)) | (x >> np.uint64(64 - r))


def _mix(acc: U64, lane: U64) -> U64:
    return _rotl(acc + lane * P2, 31) * P1


def _lane(b: NDArray[np.uint8], i: int, kind: str) -> U64:
    cut = np.ascontiguousarray(b[:, i:i + np.dtype(kind).itemsize])
    return cut.view(kind)[:, 0].astype(np.uint64)


def _of_one_length(b: NDArray[np.uint8]) -> U64:
    rows, size = b.shape
    i = 0
    if size >= 32:
        first = int(P1), int(P2)
        v = [np.full(rows, s & MASK, np.uint64) for s in (first[0] + first[1], first[1], 0, -first[0])]
        while i + 32 <= size:
            for k in range(4):
                v[k] = _mix(v[k], _lane(b, i, "<u8"))
                i += 8
        h = _rotl(v[0], 1) + _rotl(v[1], 7) + _rotl(v[2], 12) + _rotl(v[3], 18)
        for k in range(4):
            h = (h ^ _mix(np.zeros(rows, np.uint64), v[k])) * P1 + P4
    else:
        h = np.full(rows, P5, np.uint64)
    h = h + np.full(rows, size, np.uint64)
    while i + 8 <= size:
        h = _rotl(h ^ _mix(np.zeros(rows, np.uint64), _lane(b, i, "<u8")), 27) * P1 + P4
        i += 8
    if i + 4 <= size:
        h = _rotl(h ^ (_lane(b, i, "<u4") * P1), 23) * P2 + P3
        i += 4
    while i < size:
        h = _rotl(h ^ (b[:, i].astype(np.uint64) * P5), 11) * P1
        i += 1
    h = (h ^ (h >> np.uint64(33))) * P2
    h = (h ^ (h >> np.uint64(29))) * P3
    return h ^ (h >> np.uint64(32))
