#!/usr/bin/env python3
"""Makes the known answers of package noise with tools that share no code with it: mpmath, hmac, cryptography.

    cd mechanisms/noise/testdata && python3 known_answers.py

draws.txt.gz   law mant exp word[,word...] = n     n = round(F^-1(u) * mant * 2^exp), u = 0.word word ... in base 2^64.
               law is gaussian or laplace; or discrete, the law q^|n| (1-q)/(1+q), q = e^(-1/scale), by inversion. The
               words given decide n whatever words follow: this is asserted.
vectors.txt    law mant exp n seed = n values      whole vectors from a seed.
keystream.txt  seed kind position = word           kind is word, or extension.coordinate.
truncated.txt  mant exp most word[,word...] = n    of the law q^|n| on -most ... most, as draws.txt.gz
chain.txt      key key                                             the chain starts
               record topic partition offset epoch contribution    the open step absorbs a record
               tag name = tag                                      of the history so far
               step step = key                                     the step closes
               noise instance block level index = seed
               drawn = key
               draw step instance rate[4] scores = seed            a choice
"""
import gzip
import hashlib
import hmac
import io
import random
import struct

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from mpmath import mp, mpf

mp.prec = 420
ONE = 1 << 64
rng = random.Random(20)


class Rounded:
    """A continuous law, scaled and rounded. Magnitudes above m have the lower tail edge(m)."""

    @classmethod
    def number(cls, v, scale):
        return nearest(cls.quantile(v) * scale)

    @classmethod
    def edge(cls, m, scale):
        return cls.tail((m + mpf(1) / 2) / scale)


class Gaussian(Rounded):
    name = "gaussian"

    @staticmethod
    def tail(x):
        return mp.erfc(x / mp.sqrt(2)) / 2

    @staticmethod
    def quantile(v):
        """x with tail(x) = v, v <= 1/2."""
        x = mp.sqrt(-2 * mp.log(v)) if v < mpf("0.05") else mpf(0)
        for _ in range(100):
            step = (Gaussian.tail(x) - v) / mp.npdf(x)
            x += step
            if abs(step) < mpf(2) ** -190:
                return x
        raise AssertionError("no convergence")


class Laplace(Rounded):
    name = "laplace"

    @staticmethod
    def tail(x):
        return mp.exp(-x) / 2

    @staticmethod
    def quantile(v):
        return -mp.log(2 * v)


class Discrete:
    """P(n >= k) = q^k / (1 + q) for k >= 1, and P(n = 0) = (1 - q) / (1 + q)."""
    name = "discrete"

    @staticmethod
    def number(v, scale):
        return int(mp.floor(-scale * mp.log(v * (1 + mp.exp(-1 / scale)))))

    @staticmethod
    def edge(m, scale):
        q = mp.exp(-1 / scale)
        return q ** (m + 1) / (1 + q)


class Truncated:
    """P(n) proportional to q^|n| on -most ... most. Magnitudes above m have edge(m), by summation of the law."""
    name = "truncated"

    def __init__(self, most):
        self.most = most

    def edge(self, m, scale):
        q = mp.exp(-1 / scale)
        return sum(q ** j for j in range(m + 1, self.most + 1)) / (1 + 2 * sum(q ** j for j in range(1, self.most + 1)))

    def number(self, v, scale):
        return next(m for m in range(self.most + 1) if v >= self.edge(m, scale))


def nearest(x):
    return int(mp.floor(x + mpf(1) / 2))


def fold(words):
    """The lower-tail value as an integer, and whether the draw is negative."""
    bits = 64 * len(words)
    u = 0
    for w in words:
        u = u << 64 | w
    if words[0] >> 63:
        return (1 << bits) - 1 - u, bits, False
    return u, bits, True


def decide(law, words, scale):
    """The integer that the words force, or None if they leave a doubt. Both ends of the cell are tried."""
    a, bits, negative = fold(words)
    if a == 0:
        return None
    low = law.number(mpf(a + 1) / mpf(2) ** bits, scale)
    high = law.number(mpf(a) / mpf(2) ** bits, scale)
    if low != high:
        return None
    # The definition itself, beside the inverse.
    assert law.edge(low, scale) < mpf(a) / mpf(2) ** bits
    if low > 0:
        assert law.edge(low - 1, scale) > mpf(a + 1) / mpf(2) ** bits
    return -low if negative else low


def answer(law, words, scale):
    """Extends words at random until they decide."""
    words = list(words)
    while True:
        n = decide(law, words, scale)
        if n is not None:
            return words, n
        words.append(rng.getrandbits(64))


def flip(words):
    """The mirror image, half of the time."""
    return [w ^ (ONE - 1) for w in words] if rng.random() < 0.5 else words


def inputs(law, scale, count):
    """A third straddles, a fifth tails, the rest random."""
    out = []
    edges = [0, 1, 2, 3, 7, 1 << 38, (1 << 39) - 1, 1 << 39, (1 << 40) - 1, 1 << 40, (1 << 62) - 1, 1 << 62, (1 << 63) - 1]
    for e in edges:
        out += [[e], [e ^ (ONE - 1)]]
    out += [[0, 0, 5], [ONE - 1, ONE - 1, ONE - 6], [1 << 63, 0], [(1 << 63) - 1, ONE - 1]]
    while len(out) < count // 5:
        out.append(flip([rng.getrandbits(64) >> rng.randrange(1, 64)]))
    while len(out) < count // 5 + count // 3:
        v = mpf(rng.getrandbits(200) + 1) / mpf(2) ** 200 / 2
        if rng.random() < 0.3:
            v = v ** 4
        m = law.number(v, scale)
        edge = int(law.edge(m, scale) * mpf(2) ** 192)  # a rounding boundary, 192 bits
        w = [edge >> 128, edge >> 64 & ONE - 1, edge & ONE - 1]
        kind = rng.randrange(5)
        if kind == 0:  # the cell has the boundary; the next word is any
            words = w[:1]
        elif kind == 1:  # the second cell has it too
            words = w[:2]
        elif kind == 2:  # a hair beside it, 128 bits down
            words = [w[0], w[1], (w[2] + rng.choice((-1, 1)) * (1 << 40)) % ONE]
        elif kind == 3:  # a hair beside it, 64 bits down
            words = [w[0], (w[1] + rng.choice((-1, 1))) % ONE]
        else:  # the cell beside
            words = [(w[0] + rng.choice((-2, -1, 1, 2))) % (1 << 63)]
        out.append(flip(words))
    while len(out) < count:
        out.append([rng.getrandbits(64)])
    return out


def answers(jobs):
    lines = []
    for law, mant, exp, count in jobs:
        scale = mpf(mant) * mpf(2) ** exp
        for words in inputs(law, scale, count):
            words, n = answer(law, words, scale)
            lines.append("%s %d %d %s = %d" % (law.name, mant, exp, ",".join("%016x" % w for w in words), n))
    return lines


def truncated():
    rng.seed(22)
    lines = ["# Made by known_answers.py, which defines the format."]
    for mant, exp, most, count in ((1, 0, 14, 240), (1, 0, 1, 60), (5, -1, 40, 120), (3, 2, 90, 90), (1, -3, 4, 60)):
        law, scale = Truncated(most), mpf(mant) * mpf(2) ** exp
        for words in inputs(law, scale, count):
            words, n = answer(law, words, scale)
            lines.append("%d %d %d %s = %d" % (mant, exp, most, ",".join("%016x" % w for w in words), n))
    write("truncated.txt", lines)


def draws():
    lines = ["# Made by known_answers.py, which defines the format."]
    jobs = [(Gaussian, 1, e, 2500) for e in (0, 10, 29, 40)]
    jobs += [(Gaussian, 3, -11, 150), (Gaussian, 12345678901, -7, 300), (Gaussian, 0xFEDCBA9876543211, -20, 300)]
    jobs += [(Laplace, 1, e, 150) for e in (0, 10, 29, 40)] + [(Laplace, 12345678901, -7, 150), (Laplace, 5, -12, 60)]
    lines += answers(jobs)
    state = rng.getstate()
    rng.seed(21)
    lines += answers([(Discrete, 1, e, 150) for e in (-2, 0, 1, 10, 29, 40)] +
                     [(Discrete, 5, -12, 60), (Discrete, 3, 0, 150), (Discrete, 12345678901, -7, 150)])
    rng.setstate(state)
    with open("draws.txt.gz", "wb") as f:
        with gzip.GzipFile(filename="", mode="wb", fileobj=f, mtime=0) as z:
            z.write(("\n".join(lines) + "\n").encode())


class Keys:
    """AES-256 in counter mode from a zero IV; extension words from the blocks 01 | coordinate u32 | pair u64 | 000000."""

    def __init__(self, seed):
        self.seed = seed

    def words(self, count):
        c = Cipher(algorithms.AES(self.seed), modes.CTR(bytes(16))).encryptor()
        return struct.unpack("<%dQ" % count, c.update(bytes(8 * count)))

    def extension(self, coordinate, k):
        c = Cipher(algorithms.AES(self.seed), modes.ECB()).encryptor()
        block = c.update(struct.pack("<BIQ3x", 1, coordinate, k // 2))
        return struct.unpack("<QQ", block)[k % 2]

    def value(self, law, coordinate, word, extra):
        """F^-1 of the coordinate's number, with extra words, as the two ends of its cell."""
        words = [word] + [self.extension(coordinate, k) for k in range(extra)]
        a, bits, negative = fold(words)
        ends = law.quantile(mpf(a + 1) / mpf(2) ** bits), law.quantile(mpf(a) / mpf(2) ** bits)
        return (-ends[1], -ends[0]) if negative else ends


def symmetric(x):
    return -nearest(-x) if x < 0 else nearest(x)


def vector(name, scale, n, seed):
    keys = Keys(seed)
    out = []
    if name == "gamma":
        w = keys.words(2 * n + 1)
        chi = mp.sqrt(sum(sum(keys.value(Gaussian, i, w[i], 2)) ** 2 / 4 for i in range(n + 1)))
        for i in range(n + 1, 2 * n + 1):
            ends = [symmetric(scale * chi * z + d) for z in keys.value(Gaussian, i, w[i], 2) for d in (-mpf(2) ** -40, mpf(2) ** -40)]
            assert min(ends) == max(ends)
            out.append(ends[0])
        return out
    law = {"gaussian": Gaussian, "laplace": Laplace, "discrete": Discrete}[name]
    return [decide(law, [w] + [keys.extension(i, k) for k in range(2)], scale) for i, w in enumerate(keys.words(n))]


def vectorline(name, mant, exp, n, seed):
    values = vector(name, mpf(mant) * mpf(2) ** exp, n, seed)
    return "%s %d %d %d %s = %s" % (name, mant, exp, n, seed.hex(), " ".join(map(str, values)))


def vectors():
    lines = ["# Made by known_answers.py, which defines the format."]
    jobs = [("gaussian", 1, 29, 40), ("gaussian", 7, 40, 40), ("gaussian", 12345678901, 16, 300), ("laplace", 3, 28, 40), ("laplace", 1, 0, 40)]
    jobs += [("laplace", 12345678901, 16, 300)]
    jobs += [("gamma", m, e, n) for n in (1, 2, 5, 27, 100) for m, e in ((1, 0), (11, 25), (1234567891011, -12))]
    for name, mant, exp, n in jobs:
        seed = bytes(rng.getrandbits(8) for _ in range(32))
        lines.append(vectorline(name, mant, exp, n, seed))
    for mant, exp in ((1, 0), (7, 0), (3, 28), (12345678901, 16)):
        lines.append(vectorline("discrete", mant, exp, 40, hashlib.sha256(b"%d %d" % (mant, exp)).digest()))
    write("vectors.txt", lines)


def keystream():
    lines = ["# Made by known_answers.py, which defines the format."]
    for _ in range(4):
        seed = bytes(rng.getrandbits(8) for _ in range(32))
        keys = Keys(seed)
        w = keys.words(1500)
        lines += ["%s word %d = %016x" % (seed.hex(), i, w[i]) for i in (0, 1, 2, 63, 511, 512, 513, 1499)]
        for i in (0, 1, 77, 1 << 31):
            lines += ["%s extension.%d %d = %016x" % (seed.hex(), i, k, keys.extension(i, k)) for k in (0, 1, 2, 7)]
    write("keystream.txt", lines)


def field(tag, body):
    return bytes([tag]) + body


def domain(name):
    return field(1, struct.pack("<I", len(name)) + name)


def mac(key, message):
    return hmac.new(key, message, hashlib.sha256).digest()


def opened(topic, rows):
    """What the open step has absorbed: rows is a dict of partition -> [number, digest]."""
    body = field(3, topic if rows else bytes(16))
    for partition, (number, digest) in sorted(rows.items()):
        body += field(4, struct.pack("<iQ", partition, number) + digest)
    return body


def chain(rng=random.Random(21)):
    lines = ["# Made by known_answers.py. The chain of one key; each line follows from the ones before."]
    key = bytes(range(32))
    lines.append("key %s" % key.hex())
    leaves = [None, [], [0], [1, -1, (1 << 63) - 1, -(1 << 63)], [rng.getrandbits(25) - (1 << 24) for _ in range(27)]]
    leaves += [None, [i * i - 5000 for i in range(61)], [7] * 64, list(range(10000))]
    for t in range(1, 13):
        step = t if t < 9 else (1 << 64) - t
        topic, rows = bytes(rng.getrandbits(8) for _ in range(16)), {}
        for r in range((0, 1, 2, 9, 30)[t % 5]):
            leaf = leaves[(t + r) % len(leaves)]
            partition, offset = rng.choice((0, 7, 8, 300, (1 << 31) - 1)), rng.choice((0, 5, 1 << 40))
            epoch = rng.choice((-1, 0, 9))
            if leaf is not None:
                row = rows.setdefault(partition, [0, bytes(32)])
                row[0] += 1
                event = row[1] + struct.pack("<qiI", offset, epoch, len(leaf))
                row[1] = hashlib.sha256(event + b"".join(struct.pack("<q", v) for v in leaf)).digest()
            shown = "null" if leaf is None else "range:10000" if len(leaf) == 10000 else ",".join(map(str, leaf)) or "empty"
            lines.append("record %s %d %d %d %s" % (topic.hex(), partition, offset, epoch, shown))
            if r % 3 == 0:
                name = ("", "intent", "directions")[r // 3 % 3]
                tag = mac(key, domain(b"tag") + field(6, struct.pack("<I", len(name)) + name.encode()) + opened(topic, rows))
                lines.append("tag %s = %s" % (name or "empty", tag.hex()))
        key = mac(key, domain(b"step") + field(2, struct.pack("<Q", step)) + opened(topic, rows))
        lines.append("step %d = %s" % (step, key.hex()))
        node = rng.getrandbits(16), rng.getrandbits(64), rng.getrandbits(8), rng.getrandbits(64)
        if t == 1:
            node = 0, 0, 0, 0
        seed = mac(key, domain(b"noise") + field(5, struct.pack("<HQBQ", *node)))
        lines.append("noise %d %d %d %d = %s" % (*node, seed.hex()))
        key = mac(key, domain(b"drawn"))
        lines.append("drawn = %s" % key.hex())
        if t % 4 == 0:
            instance, rate = rng.getrandbits(16), [rng.getrandbits(64) for _ in range(4)]
            scores = [rng.getrandbits(40) - (1 << 39) for _ in range(t * t)]
            body = struct.pack("<H4QI", instance, *rate, len(scores)) + b"".join(struct.pack("<q", v) for v in scores)
            key = mac(key, domain(b"choice") + field(2, struct.pack("<Q", step)) + field(7, body))
            seed = mac(key, domain(b"draw"))
            key = mac(key, domain(b"drawn"))
            lines.append("draw %d %d %d %d %d %d %s = %s" % (step, instance, *rate, ",".join(map(str, scores)), seed.hex()))
    write("chain.txt", lines)


def write(name, lines):
    with io.open(name, "w", newline="\n") as f:
        f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    chain()
    keystream()
    vectors()
    draws()
    truncated()
