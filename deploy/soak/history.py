"""What must hold of the topics of a soak. Each function gives the violations that it finds, as texts without payload."""

import collections
import json

from confluent_kafka import TIMESTAMP_LOG_APPEND_TIME

import events

# appended is the time in ms at which a broker appended the record, or None if the topic has the producers' times; sent is the time in either case.
Record = collections.namedtuple("Record", "partition offset key value headers appended sent", defaults=[None, None])

SLOT = 1000  # ms

# A digit of a spelt number is 1/66 apart from the next: far more than the noise at ε = 10⁸.
TOLERANCE = 0.25 / events.SCALE

MAX_HEADERS = 1024  # of a record that the service can read
LETTER_BYTES = 64 << 10  # of a value that a dead letter cuts


def place(r):
    return r.partition, r.offset


def slot_and_entries(order_record):
    """The slot, and of each entry the partition, end and epoch. The signature is not checked: a soak writes no record of its own."""
    value, at, partition, entries = order_record.value[17:-16], 0, -1, []

    def number():
        nonlocal at
        n = shift = 0
        while True:
            n, shift, more = n | (value[at] & 127) << shift, shift + 7, value[at] & 128
            at += 1
            if not more:
                return n

    slot = number()
    while at < len(value):
        partition += 1 + number()
        entries.append((partition, number(), number()))
    return slot, entries


def merged(order, records):
    """Records in the order that the log of a whole topic defines, with steps by count. An order record counts if a broker appended it after the end of
    its slot, and if its slot is not before that of the last one that counted. An entry with an earlier epoch than its partition counts for nothing. The
    record adds the records below the partitions' ends by slot, partition and offset. order are the order records, records all others."""
    left = {}
    for r in sorted(records, key=place, reverse=True):
        left.setdefault(r.partition, []).append(r)
    ends, epochs, sequence, opened = collections.Counter(), collections.Counter(), [], 0
    for o in order:
        closes, entries = slot_and_entries(o)
        early = o.appended is None or o.appended < (closes + 1) * SLOT
        if early or closes < opened:
            continue
        added = []
        for p, end, epoch in entries:
            if end > ends[p] and epoch >= epochs[p]:
                ends[p], epochs[p] = end, epoch
            slot = opened
            while left.get(p) and left[p][-1].offset < ends[p]:
                r = left[p].pop()
                slot = max(slot, closes if r.appended is None else min(r.appended // SLOT, closes))
                added.append((slot, p, r.offset, r))
        sequence += [r for _, _, _, r in sorted(added, key=lambda of: of[:3])]
        opened = closes
    return sequence


def by_slot(order, records):
    """(slot, record) of the records in the order that the log of a whole topic defines, with steps by the clock. Here an order record must close a slot
    that is open, and a record of a later slot waits, with all behind it in its partition. A record without a broker's time is in the last slot closed."""
    left = {}
    for r in sorted(records, key=place, reverse=True):
        left.setdefault(r.partition, []).append(r)
    ends, epochs, sequence, opened = collections.Counter(), collections.Counter(), [], 0
    for o in order:
        closes, entries = slot_and_entries(o)
        if o.appended is None or o.appended < (closes + 1) * SLOT or closes < opened:
            continue
        for p, end, epoch in entries:
            if end > ends[p] and epoch >= epochs[p]:
                ends[p], epochs[p] = end, epoch
        added = []
        for p, waiting in left.items():
            slot = opened
            while waiting and waiting[-1].offset < ends[p]:
                slot = max(slot, closes if waiting[-1].appended is None else waiting[-1].appended // SLOT)
                if slot > closes:
                    break
                added.append((slot, p, waiting.pop()))
        sequence += [(slot, r) for slot, _, r in sorted(added, key=lambda of: (*of[:2], of[2].offset))]
        opened = closes + 1
    return sequence


def absent(sequence, period, most):
    """Places of the records that contribute nothing: no events, or of a user with most records before it in the period of so many slots."""
    null, counts = set(), collections.Counter()
    for slot, r in sequence:
        _, kind = events.truth(r.key)
        users = [v for k, v in r.headers if k == "user"] if len(r.headers) <= MAX_HEADERS else []
        if len(users) == 1:
            counts[slot // period, users[0]] += 1
        if len(users) != 1 or counts[slot // period, users[0]] > most or kind != "v":
            null.add(place(r))
    return null


def right_steps(stream, committed, sequence, null, step, delay):
    """Each step of so many slots has one decision, empty ones too, with the counts and sums of its events by cell, and the time of its hand-over."""
    found, first = [], json.loads(committed[0].value)["index"]
    numbers = {}
    for slot, r in sequence:
        of = numbers.setdefault(slot // step, [0] * 2 * events.CELLS)
        if place(r) not in null:
            cell, value = events.cell_and_value(events.truth(r.key)[0])
            of[cell], of[events.CELLS + cell] = of[cell] + 1, of[events.CELLS + cell] + value
    for k, r in enumerate(committed, first):
        d = json.loads(r.value)
        want, due = numbers.pop(k, [0] * 2 * events.CELLS), (k + 1) * step * SLOT + delay
        if (d["index"], d["step"], d["stream"], r.key) != (k, k, stream, stream.encode()):
            return found + [f"index {d['index']} stands where step {k} belongs, offset {r.offset}"]
        if r.sent != due or d["time"] != (k + 1) * step * SLOT:
            found.append(f"step {k}: published as of {r.sent}, want {due}; it has the time {d['time']}")
        if len(d["decision"]) != len(want) or any(abs(x - w) > 0.25 for x, w in zip(d["decision"], want)):
            found.append(f"step {k}: the counts and sums are not those of its records")
    return found + [f"step {k} has records and no decision" for k in numbers]


def record_of(m):
    """A Record of a message of librdkafka."""
    kind, ms = m.timestamp()
    return Record(m.partition(), m.offset(), m.key(), m.value(), m.headers() or [],
                  ms if kind == TIMESTAMP_LOG_APPEND_TIME else None, ms)


def taken(sequence, below):
    """The records below the group's offsets; they must be the first ones of the sequence."""
    of = [r for r in sequence if r.offset < below.get(r.partition, 0)]
    if of == sequence[:len(of)]:
        return of, []
    first = next(r for r, want in zip(sequence, of) if r != want)
    return of, [f"partition {first.partition} offset {first.offset} is not taken, and records behind it in the order are"]


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


def in_order(p, stream, committed, taken):
    """Committed decisions are 1, 2, …, n, as many as records were taken, of one incarnation, under the stream's name."""
    found = []
    for i, r in enumerate(committed):
        d = json.loads(r.value)
        if (d["index"], d["step"], d["stream"], r.key) != (i + 1, i + 1, stream, stream.encode()):
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
        want = [0.0] * events.DIGITS if place(record) in null else events.cost(number)
        total = [t * x for x in json.loads(decision.value)["decision"]]
        if any(abs(b - x - w) > TOLERANCE for x, b, w in zip(total, before, want)):
            found.append(f"partition {p}: step {t} did not count the record at partition {record.partition} offset {record.offset}")
            if len(found) == 5:
                break
        before = total
    return found


def null_events(records, separation):
    """Places of the records, in their order, that are null events of one stream. separation is 0 at event level."""
    null, last = set(), {}
    for t, r in enumerate(records, 1):
        _, kind = events.truth(r.key)
        if separation:
            users = [v for k, v in r.headers if k == "user"] if len(r.headers) <= MAX_HEADERS else []
            if len(users) != 1 or t - last.get(users[0], -separation) < separation:
                null.add(place(r))
                continue
            last[users[0]] = t
        if kind != "v" and kind != "nobody":
            null.add(place(r))
    return null


def complete_letters(topic, records, null, letters):
    """Every null event has one letter with its place and bytes, and nothing else has. All are of all partitions."""
    found, seen = [], collections.Counter()
    by_place = {place(r): r for r in records}
    for letter in letters:
        own = {k: v for k, v in letter.headers if k.startswith("oriel-")}
        try:
            at = int(own["oriel-partition"]), int(own["oriel-offset"])
        except (KeyError, ValueError):
            found.append(f"the letter at offset {letter.offset} does not tell its place")
            continue
        seen[at] += 1
        if at not in by_place or at not in null:
            found.append(f"partition {at[0]} offset {at[1]}: a letter of no bad record")
        elif own.get("oriel-topic") != topic.encode() or not own.get("oriel-reason"):
            found.append(f"partition {at[0]} offset {at[1]}: the letter's topic or reason is wrong")
        elif not same_bytes(by_place[at], letter, own):
            found.append(f"partition {at[0]} offset {at[1]}: the letter's bytes are not the record's")
    for at in sorted(null):
        if seen[at] != 1:
            found.append(f"partition {at[0]} offset {at[1]}: {seen[at]} letters, want 1")
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
