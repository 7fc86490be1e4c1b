"""The events of a soak: what is sent, and what a checker expects of it, written down in the record's key.

A key is `canary:number:kind`; kind v is a valid event, every other one is a kind of bad record. The canary is in keys, header names, header
values and values, and must never leave but in the input and in dead letters.

A linear event spells its number: four digits to the base 32, digit k as the cost (k + 1) / 66, so that the cost's norm is below the clip of 1 and no
coordinate of an event is 0, while every coordinate of a null event is.
"""

CANARY = "canary7f3a"
BASE, DIGITS, SCALE = 32, 4, 66

# Kinds of bad records. Of each: the value, from the value of an event.
BAD = {
    "empty": lambda good: b"",
    "tombstone": lambda good: None,
    "garbage": lambda good: bytes(range(128, 256)) + CANARY.encode(),
    "text": lambda good: CANARY.encode(),
    "cut": lambda good: good[:-2],
    "trailing": lambda good: good + CANARY.encode(),
    "unknown": lambda good: good[:-1] + b',"%s":1}' % CANARY.encode(),
    "dimension": lambda good: b'{"cost":[1,2],"features":[1,2],"label":1}',
    "nan": lambda good: good.replace(b"0.", b"NaN", 1) if b"0." in good else b'{"label":NaN}',
    "overflow": lambda good: b'{"cost":[1e999,0,0,0]}',
    "twice": lambda good: b'{"cost":[0,0,0,0],"cost":[0,0,0,0]}',
    "deep": lambda good: b"[" * 500 + CANARY.encode(),
    "large": lambda good: good + b" " * 90000 + CANARY.encode(),  # above ORIEL_MAX_RECORD_BYTES
    "headers": lambda good: good,  # with more headers than a reader takes
    "nobody": lambda good: good,  # names no user, where users are asked for
}
MANY_HEADERS = 1100


def key(number, kind):
    return b"%s:%d:%s" % (CANARY.encode(), number, kind.encode())


def truth(record_key):
    """The number and kind that a key tells."""
    canary, number, kind = record_key.split(b":")
    assert canary == CANARY.encode(), "a record in the input that the soak did not send"
    return int(number), kind.decode()


def digits(number):
    return [number // BASE**k % BASE for k in range(DIGITS)]


def cost(number):
    return [(digit + 1) / SCALE for digit in digits(number)]


def linear_value(number):
    return b'{"cost":[%s]}' % ",".join(repr(c) for c in cost(number)).encode()


CELLS, MOST = 16, 1009  # of events by the clock: how many cells they have, and what their values are below


def cell_and_value(number):
    return number % CELLS, number * 7 % MOST


def counted_value(number):
    return b'{"cell":%d,"value":%d}' % cell_and_value(number)


def named_value(number):
    return b'{"features":{"name":"%s-%d","hour":%d,"weight":0.%d},"label":%d}' % (
        CANARY.encode(), number % 50, number % 24, number % 10, number // 3 % 2)
