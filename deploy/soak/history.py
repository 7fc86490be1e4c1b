"""What must hold of the topics of a soak. Each function gives the violations that it finds, as texts without payload."""

import collections
import json

import events

Record = collections.namedtuple("Record", "offset key value headers")

# A digit of a spelt number is 1/66 apart from the next: far more than the noise at ε = 10⁸.
TOLERANCE = 0.25 / events.SCALE

MAX_HEADERS = 1024  # of a record that the service can read
LETTER_BYTES = 64 << 10  # of a value that a dead letter cuts


def one_value(p, uncommitted):
    """No (stream, incarnation, index) has two values. Gives how many identities were published more than once, too."""
    values, repeated, found = {}, set(), []
    for r in uncommitted:
        d = json.loads(r.value)
        identity = d["stream"], d["incarnation"], d["index"]
        if values.setdefault(identity, r.value) != r.value:
            found.append(f"partition {p}: two values of incarnation {identity[1]} index {identity[2]}, one at offset {r.offset}")
        elif identity in repeated or r.value is not values[identity]:
            repeated.add(identity)
    return found, len(repeated)


def in_order(p, committed, taken):
    """Committed decisions are 1, 2, …, n, as many as records were taken, of one incarnation, under the stream's key."""
    found = []
    for i, r in enumerate(committed):
        d = json.loads(r.value)
        if (d["index"], d["step"], d["stream"], r.key) != (i + 1, i + 1, str(p), str(p).encode()):
            found.append(f"partition {p}: place {i + 1} of the committed decisions holds index {d['index']}, offset {r.offset}")
            break  # all that follow are out of place, too
    if len(committed) != taken:
        found.append(f"partition {p}: {len(committed)} decisions are committed, {taken} records were taken")
    incarnations = {json.loads(r.value)["incarnation"] for r in committed}
    if len(incarnations) > 1:
        found.append(f"partition {p}: {len(incarnations)} incarnations")
    return found


def right_events(p, committed, records, null):
    """With linear losses and µ = 1, t·x_{t+1} − (t−1)·x_t is minus the cost that step t counted, 0 of a null event."""
    found, before = [], [0.0] * events.DIGITS
    for t, (decision, record) in enumerate(zip(committed, records), 1):
        number, _ = events.truth(record.key)
        want = [0.0] * events.DIGITS if record.offset in null else events.cost(number)
        total = [t * x for x in json.loads(decision.value)["decision"]]
        if any(abs(b - x - w) > TOLERANCE for x, b, w in zip(total, before, want)):
            found.append(f"partition {p}: step {t} did not count the record at offset {record.offset}")
            if len(found) == 5:
                break
        before = total
    return found


def null_events(records, separation):
    """Offsets of the records that take their place as null events. separation is 0 at event level."""
    null, last = set(), {}
    for t, r in enumerate(records, 1):
        _, kind = events.truth(r.key)
        if separation:
            users = [v for k, v in r.headers if k == "user"] if len(r.headers) <= MAX_HEADERS else []
            if len(users) != 1 or t - last.get(users[0], -separation) < separation:
                null.add(r.offset)
                continue
            last[users[0]] = t
        if kind != "v" and kind != "nobody":
            null.add(r.offset)
    return null


def complete_letters(topic, records, null, letters):
    """Every null event has one letter with its place and bytes, and nothing else has. letters are of all partitions; records and null by
    partition."""
    found, seen = [], collections.Counter()
    by_place = {(p, r.offset): r for p, of in records.items() for r in of}
    for letter in letters:
        own = {k: v for k, v in letter.headers if k.startswith("oriel-")}
        try:
            place = int(own["oriel-partition"]), int(own["oriel-offset"])
        except (KeyError, ValueError):
            found.append(f"the letter at offset {letter.offset} does not tell its place")
            continue
        seen[place] += 1
        if place not in by_place or place[1] not in null[place[0]]:
            found.append(f"partition {place[0]} offset {place[1]}: a letter of no bad record")
        elif own.get("oriel-topic") != topic.encode() or not own.get("oriel-reason"):
            found.append(f"partition {place[0]} offset {place[1]}: the letter's topic or reason is wrong")
        elif not same_bytes(by_place[place], letter, own):
            found.append(f"partition {place[0]} offset {place[1]}: the letter's bytes are not the record's")
    for p in records:
        for offset in sorted(null[p]):
            if seen[p, offset] != 1:
                found.append(f"partition {p} offset {offset}: {seen[p, offset]} letters, want 1")
    return found


def same_bytes(record, letter, own):
    """A letter has the record's key, value and headers. One whose record cannot be read has the key; one that is cut says so, and has a part."""
    if letter.key != record.key:
        return False
    headers = [h for h in letter.headers if not h[0].startswith("oriel-")]
    if len(record.headers) > MAX_HEADERS:
        return not letter.value and not headers
    if own.get("oriel-truncated") != b"true":
        return letter.value == record.value and headers == record.headers
    kept = letter.value or b""
    return (record.value.startswith(kept) and len(kept) >= min(len(record.value), LETTER_BYTES)
            and own.get("oriel-length") == str(len(record.value)).encode() and headers in ([], record.headers))
