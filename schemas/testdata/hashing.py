"""Feature hashing v1 written a second time, from the description of FeatureConfig and the XXH64 specification.

deploy/python scores many rows at once by it. A scorer of few needs this file alone, in its path, and no packages:

    from hashing import hash_features
    indices, values = hash_features([("carrier", "UA"), ("hour", 17)], 32, ranges=[
        {"name": "hour", "low": 0, "high": 24, "cyclic": True}])
    score = sum(v * decision[i] for i, v in zip(indices, values))

python3 hashing.py writes hashing.json (vectors) and turns.json (sine and cosine of a turn, correctly rounded; needs mpmath).
"""

import json
import math
import random

MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = (
    0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


def rotl(x, r):
    return ((x << r) | (x >> (64 - r))) & MASK


def mix(acc, lane):
    return rotl((acc + lane * P2) & MASK, 31) * P1 & MASK


def xxh64(data, seed=0):
    n, i = len(data), 0
    if n >= 32:
        v = [(seed + P1 + P2) & MASK, (seed + P2) & MASK, seed, (seed - P1) & MASK]
        while i + 32 <= n:
            for k in range(4):
                v[k] = mix(v[k], int.from_bytes(data[i:i + 8], "little"))
                i += 8
        h = (rotl(v[0], 1) + rotl(v[1], 7) + rotl(v[2], 12) + rotl(v[3], 18)) & MASK
        for k in range(4):
            h = ((h ^ mix(0, v[k])) * P1 + P4) & MASK
    else:
        h = (seed + P5) & MASK
    h = (h + n) & MASK
    while i + 8 <= n:
        h = (rotl(h ^ mix(0, int.from_bytes(data[i:i + 8], "little")), 27) * P1 + P4) & MASK
        i += 8
    if i + 4 <= n:
        h = (rotl(h ^ (int.from_bytes(data[i:i + 4], "little") * P1 & MASK), 23) * P2 + P3) & MASK
        i += 4
    while i < n:
        h = rotl(h ^ (data[i] * P5 & MASK), 11) * P1 & MASK
        i += 1
    h = (h ^ (h >> 33)) * P2 & MASK
    h = (h ^ (h >> 29)) * P3 & MASK
    return h ^ (h >> 32)


def sin_cos_turn(t):
    q = math.floor(4.0 * t + 0.5)
    x = (t - q / 4.0) * 6.283185307179586
    z = x * x
    c_n = [1.0 / math.factorial(n) for n in range(18)]
    s, c = c_n[17], c_n[16]
    for n in range(15, 0, -2):
        s = c_n[n] - z * s
    for n in range(14, -1, -2):
        c = c_n[n] - z * c
    s = x * s
    s, c = [(s, c), (c, -s), (-s, -c), (-c, s)][q % 4]
    return s + 0.0, c + 0.0


def hash_features(features, d, bias=True, norm="unit", ranges=()):
    """Gives the indices (below d) and values of the vector that Oriel learns from, to the bit.

    features are pairs of a name and a text, number or boolean. d, bias, norm and ranges are ORIEL_DIMENSION, ORIEL_FEATURES_BIAS,
    ORIEL_FEATURES_NORM and ORIEL_FEATURES_RANGE, with a dictionary of name, low, high, cyclic for each range.
    """
    indices, values = [], []

    def add(token, v):
        h = xxh64(token)
        if h & 1:
            v = -v
        index = (h * d) >> 64
        if index in indices:
            values[indices.index(index)] += v
        else:
            indices.append(index)
            values.append(0.0 + v)

    by_name = {r["name"]: r for r in ranges}
    for name, v in features:
        token = name.encode()
        if v is True:
            add(token, 1.0)
        elif v is False:
            pass
        elif isinstance(v, str):
            add(token + b"\0" + v.encode(), 1.0)
        elif name not in by_name:
            add(token, float(v))
        else:
            r = by_name[name]
            u = (float(v) - r["low"]) / (r["high"] - r["low"])
            if not r["cyclic"]:
                add(token, 0.0 if u <= 0.0 else 1.0 if u >= 1.0 else u)
            else:
                t = u - math.floor(u) if math.isfinite(u) else 0.0
                s, c = sin_cos_turn(t)
                add(token + b"\0sin", s)
                add(token + b"\0cos", c)
    if bias:
        add(b"", 1.0)
    total = 0.0
    for v in values:
        total += v * v
    if norm == "unit" and total > 0.0:
        n = math.sqrt(total)
        values = [v / n for v in values]
    return indices, values


def cases():
    rng = random.Random(20130101)
    distance = {"name": "distance", "low": 0.0, "high": 5000.0, "cyclic": False}
    hour = {"name": "hour", "low": 0.0, "high": 24.0, "cyclic": True}
    flight = [("carrier", "UA"), ("origin", "EWR"), ("hour", 17), ("distance", 1400), ("month", 1), ("weekend", True), ("late", False)]
    yield [], 1, True, "unit", []
    yield [], 16, True, "unit", []
    yield [], 16, False, "unit", []
    for d in (1, 2, 3, 7, 32, 1000, 1 << 20):
        for norm in ("unit", "none"):
            for bias in (True, False):
                yield flight, d, bias, norm, []
                yield flight, d, bias, norm, [distance, hour]
    for v in (-1, 0, -0.0, 1e-300, 2500, 5000, 5001, 1e300, -1e300, 1e308):
        yield [("distance", v), ("hour", v)], 64, True, "unit", [distance, hour]
        yield [("distance", v), ("hour", v)], 64, False, "none", [distance, hour]
    yield [("hour", "noon"), ("hour2", True)], 8, True, "unit", [hour]
    yield [("ä", "ö"), ("名前", "値"), ("", ""), ("a\0b", "c"), ("😀", 0.1)], 32, True, "unit", []
    for n in list(range(1, 70)) + [127, 128, 129, 1000]:
        yield [("n" * n, 1), ("s", "x" * n)], 1 << 20, True, "unit", []
    for _ in range(60):
        features = []
        for k in range(rng.randrange(1, 25)):
            name = "f%d" % k
            v = rng.choice([rng.uniform(-3, 3), rng.randrange(100), True, False, "v%d" % rng.randrange(9), rng.expovariate(1e-3)])
            features.append((name, v))
        low = rng.uniform(-5, 5)
        ranges = [{"name": "f%d" % k, "low": low, "high": low + rng.uniform(0.1, 50), "cyclic": rng.random() < 0.5} for k in range(0, 20, 2)]
        yield features, rng.choice([4, 16, 32, 100, 4096]), rng.random() < 0.7, rng.choice(["unit", "none"]), ranges


def main():
    write_vectors()
    write_turns()


def write_vectors():
    lines = []
    for features, d, bias, norm, ranges in cases():
        indices, values = hash_features(features, d, bias, norm, ranges)
        lines.append(json.dumps({
            "features": [[n, v] for n, v in features], "dimension": d, "bias": bias, "norm": norm, "ranges": ranges,
            "indices": indices, "values": values}))
    with open("hashing.json", "w") as f:
        f.write("[\n" + ",\n".join(lines) + "\n]\n")


def write_turns():
    import mpmath
    mpmath.mp.prec = 2000
    rng = random.Random(1)
    turns = [k / 96 for k in range(97)] + [rng.random() for _ in range(400)] + [2.0 ** -k for k in range(1, 80)]
    turns += [1 - 2.0 ** -k for k in range(2, 54)] + [0.25 - 2.0 ** -40, 0.25 + 2.0 ** -50, 0.125, 0.375, 0.5 + 2.0 ** -52]
    with open("turns.json", "w") as f:
        rows = [json.dumps([t, float(mpmath.sin(2 * mpmath.pi * t)) if t % 0.5 else 0.0,
                            float(mpmath.cos(2 * mpmath.pi * t)) if (t + 0.25) % 0.5 else 0.0]) for t in turns]
        f.write("[\n" + ",\n".join(rows) + "\n]\n")


if __name__ == "__main__":
    main()
