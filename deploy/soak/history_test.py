"""Each violation that a soak looks for is planted in a history that has none, and found."""

import json
import unittest

import events
import history
from history import Record

TOPIC = "in"
KINDS = ["v", "cut", "v", "headers", "large", "v", "tombstone", "v"]


def sent(offset, number, kind):
    value = events.linear_value(number)
    headers = [(events.CANARY, b"x")] + [("h", b"")] * (events.MANY_HEADERS if kind == "headers" else 0)
    return Record(0, offset, events.key(number, kind), value if kind == "v" else events.BAD[kind](value), headers)


def decided(records, null):
    """What an honest service publishes at ε = ∞."""
    total, lines = [0.0] * events.DIGITS, []
    for t, r in enumerate(records, 1):
        if history.place(r) not in null:
            total = [s + c for s, c in zip(total, events.cost(events.truth(r.key)[0]))]
        line = {"stream": "0", "incarnation": "ab", "index": t, "step": t, "decision": [-s / t for s in total]}
        lines.append(Record(0, 100 + t, b"0", json.dumps(line).encode(), []))
    return lines


def letter(r, offset):
    value, headers, more = r.value, r.headers, []
    if len(headers) > history.MAX_HEADERS:
        value, headers = None, []
    elif value and len(value) > history.LETTER_BYTES:
        value, more = value[: history.LETTER_BYTES], [("oriel-truncated", b"true"), ("oriel-length", str(len(value)).encode())]
    place = [("oriel-reason", b"r"), ("oriel-topic", TOPIC.encode()), ("oriel-partition", b"0"), ("oriel-offset", str(r.offset).encode())]
    return Record(0, offset, r.key, value, headers + more + place)


class History(unittest.TestCase):
    def setUp(self):
        # Offsets have gaps: markers of transactions, and what they aborted.
        self.records = [sent(3 * i, 1000 * i + 7, kind) for i, kind in enumerate(KINDS)]
        self.null = history.null_events(self.records, 0)
        self.decisions = decided(self.records, self.null)
        self.letters = [letter(r, i) for i, r in enumerate(r for r in self.records if history.place(r) in self.null)]

    def judge(self):
        return (history.one_value(0, self.decisions)[0] + history.in_order(0, "0", self.decisions, len(self.records))
                + history.right_events(0, self.decisions, self.records, self.null)
                + history.complete_letters(TOPIC, self.records, self.null, self.letters))

    def change(self, i, **fields):
        line = json.loads(self.decisions[i].value) | fields
        self.decisions[i] = self.decisions[i]._replace(value=json.dumps(line).encode())

    def test_an_honest_history_is_not_violated(self):
        self.assertEqual(self.judge(), [])

    def test_nulls_are_the_bad_records(self):
        self.assertEqual(self.null, {(0, 3), (0, 9), (0, 12), (0, 18)})

    def test_two_values(self):
        other = self.decisions[2]._replace(offset=900, value=self.decisions[2].value.replace(b"-0.", b"-1.", 1))
        found, repeated = history.one_value(0, [*self.decisions, other])
        self.assertEqual((len(found), repeated), (1, 0))

    def test_equal_values_are_counted(self):
        again = self.decisions[2]._replace(offset=900, value=bytes(bytearray(self.decisions[2].value)))
        self.assertEqual(history.one_value(0, [*self.decisions, again]), ([], 1))

    def test_a_gap(self):
        del self.decisions[3]
        self.assertTrue(history.in_order(0, "0", self.decisions, len(self.records)))

    def test_a_repeat(self):
        self.decisions.insert(3, self.decisions[3])
        self.assertTrue(history.in_order(0, "0", self.decisions, len(self.records)))

    def test_an_end_that_is_missing(self):
        del self.decisions[-1]
        self.assertTrue(history.in_order(0, "0", self.decisions, len(self.records)))

    def test_a_second_incarnation(self):
        self.change(5, incarnation="cd")
        self.assertTrue(history.in_order(0, "0", self.decisions, len(self.records)))

    def test_another_event(self):
        self.records[2] = sent(6, 2008, "v")  # the neighbour of the one that was counted
        self.assertTrue(history.right_events(0, self.decisions, self.records, self.null))

    def test_an_event_counted_as_null(self):
        self.assertTrue(history.right_events(0, self.decisions, self.records, self.null | {(0, 6)}))

    def test_events_exchanged(self):
        self.records[2], self.records[5] = self.records[5], self.records[2]
        self.assertTrue(history.right_events(0, self.decisions, self.records, self.null))

    def test_a_letter_missing(self):
        del self.letters[1]
        self.assertIn("0 letters", self.judge()[0])

    def test_a_letter_twice(self):
        self.letters.append(self.letters[1])
        self.assertIn("2 letters", self.judge()[0])

    def test_a_letter_of_a_valid_event(self):
        self.letters.append(letter(self.records[0], 99))
        self.assertIn("no bad record", self.judge()[0])

    def test_a_letter_with_other_bytes(self):
        for field, value in [("value", b"x"), ("key", b"x"), ("headers", self.letters[0].headers[1:])]:
            with self.subTest(field):
                self.setUp()
                self.letters[0] = self.letters[0]._replace(**{field: value})
                self.assertIn("bytes", self.judge()[0])

    def test_a_cut_letter_with_too_little(self):
        at = next(i for i, l in enumerate(self.letters) if ("oriel-truncated", b"true") in l.headers)
        self.letters[at] = self.letters[at]._replace(value=self.letters[at].value[:-1])
        self.assertIn("bytes", self.judge()[0])

    def test_users_are_kept_apart(self):
        def of(user, kind="v"):
            return sent(0, 1, kind)._replace(headers=[("user", user)] if user else [])
        #        1        2        3          4             5               6         7
        users = [of(b"a"), of(b"b"), of(b"a"), of(b"b", "cut"), of(b"b"), of(None), of(b"a")]
        records = [r._replace(offset=i) for i, r in enumerate(users, 1)]
        # a is too soon at 3, not at 7; b is due again at 5, since its turn at 2 counts; nobody is nobody's.
        self.assertEqual(history.null_events(records, 3), {(0, 3), (0, 4), (0, 6)})


def ordered(*entries, slot=0, late=0):
    """An order record of a slot, appended so many ms after its end: partition, end and epoch of each entry."""
    def uvarint(n):
        return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + uvarint(n >> 7)

    body, before = uvarint(slot), -1
    for partition, end, epoch in entries:
        body += uvarint(partition - before - 1) + uvarint(end) + uvarint(epoch)
        before = partition
    return Record(0, 0, None, bytes(17) + body + bytes(16), [], (slot + 1) * history.SLOT + late)


class Order(unittest.TestCase):
    def test_entries_are_read(self):
        self.assertEqual(history.slot_and_entries(ordered((1, 5, 0), (3, 1000, 7), slot=300)), (300, [(1, 5, 0), (3, 1000, 7)]))

    def setUp(self):
        self.records = [Record(p, offset, b"", b"", []) for p in (0, 1) for offset in (0, 2, 3)]

    def places(self, *order):
        return [history.place(r) for r in history.merged(order, self.records)]

    def test_partitions_ascend_within_a_record(self):
        self.assertEqual(self.places(ordered((0, 3, 0), (1, 1, 0)), ordered((0, 4, 0))), [(0, 0), (0, 2), (1, 0), (0, 3)])

    def test_a_repeat_and_an_earlier_epoch_count_for_nothing(self):
        self.assertEqual(self.places(ordered((0, 3, 2)), ordered((0, 3, 2)), ordered((0, 4, 1))), [(0, 0), (0, 2)])
        self.assertEqual(self.places(ordered((0, 3, 2)), ordered((0, 4, 1), (1, 1, 0))), [(0, 0), (0, 2), (1, 0)])

    def test_a_slot_ahead_of_the_broker_and_an_earlier_slot_count_for_nothing(self):
        self.assertEqual(self.places(ordered((0, 3, 0), slot=9, late=-1)), [])
        self.assertEqual(self.places(ordered((0, 1, 0), slot=9), ordered((0, 3, 0), slot=8)), [(0, 0)])

    def test_append_times_decide_slots(self):
        times = [5000, 4000, 7000, 4000, 9000, 5000]  # of partition 0, then of 1; no slot is before that of the record in front
        self.records = [r._replace(appended=at) for r, at in zip(self.records, times)]
        self.assertEqual(self.places(ordered((0, 4, 0), (1, 4, 0), slot=8)), [(1, 0), (0, 0), (0, 2), (0, 3), (1, 2), (1, 3)])

    def test_what_is_taken_is_the_beginning(self):
        sequence = history.merged([ordered((0, 3, 0), (1, 1, 0)), ordered((0, 4, 0))], self.records)
        self.assertEqual(history.taken(sequence, {0: 3}), (sequence[:2], []))
        of, found = history.taken(sequence, {0: 4})
        self.assertEqual((len(of), len(found)), (3, 1))


STEP, DELAY = 2, 3000  # seconds, ms


class Clock(unittest.TestCase):
    """A history by the clock without a violation, of slots 20 to 27, whose step 11 is empty; and each violation of it."""

    def setUp(self):
        of = [(20, "v", "a"), (21, "v", "a"), (21, "cut", "b"), (21, "v", "b"), (24, "v", "a"), (25, "nobody", None), (26, "v", "b")]
        self.sequence = []
        for i, (slot, kind, user) in enumerate(of):
            headers = [("user", user.encode())] if user else []
            self.sequence.append((slot, Record(0, i, events.key(100 + i, kind), b"", headers, slot * history.SLOT)))
        self.null = history.absent(self.sequence, 4, 1)
        self.decisions = []
        for k in range(10, 14):
            numbers = [0.0] * 2 * events.CELLS
            for slot, r in self.sequence:
                if slot // STEP == k and history.place(r) not in self.null:
                    cell, value = events.cell_and_value(events.truth(r.key)[0])
                    numbers[cell] += 1
                    numbers[events.CELLS + cell] += value
            end = (k + 1) * STEP * history.SLOT
            line = {"stream": "in", "index": k, "step": k, "time": end, "decision": numbers}
            self.decisions.append(Record(0, 2 * k, b"in", json.dumps(line).encode(), [], None, end + DELAY))

    def judge(self):
        return history.right_steps("in", self.decisions, self.sequence, self.null, STEP, DELAY)

    def test_an_honest_history_is_not_violated(self):
        # a is too often at 1, not in the next period; b's bad record counts, so that the good one behind it is too often.
        self.assertEqual(self.null, {(0, 1), (0, 2), (0, 3), (0, 5)})
        self.assertEqual(self.judge(), [])

    def test_each_step_has_one_decision(self):
        honest = self.decisions
        for name, of in {"none": honest[:1] + honest[2:], "two": honest[:2] + honest[1:], "not the last": honest[:3]}.items():
            self.decisions = of
            self.assertEqual(len(self.judge()), 1, name)

    def test_a_record_is_in_its_step_alone(self):
        for i, (slot, r) in enumerate(self.sequence):
            for other in (slot - STEP, slot + STEP):
                changed = self.sequence[:i] + [(other, r)] + self.sequence[i + 1:]
                found = history.right_steps("in", self.decisions, changed, self.null, STEP, DELAY)
                self.assertEqual(found == [], history.place(r) in self.null and other // STEP in range(10, 14), (i, other))

    def test_decisions_have_the_time_of_their_step(self):
        self.decisions[1] = self.decisions[1]._replace(sent=self.decisions[1].sent + 1)
        self.assertEqual(len(self.judge()), 1)

    def test_records_of_open_slots_wait(self):
        records = [Record(p, o, b"", b"", [], ms) for p, o, ms in [(0, 0, 20_000), (0, 1, 22_500), (0, 2, 21_000), (1, 0, 21_999), (1, 1, None)]]
        ends = (0, 3, 0), (1, 1, 0)
        order = [ordered(*ends, slot=20), ordered(*ends, slot=20), ordered(slot=21, late=-1), ordered(slot=21), ordered((1, 2, 0), slot=23)]
        self.assertEqual([(slot, history.place(r)) for slot, r in history.by_slot(order, records)],
                         [(20, (0, 0)), (21, (1, 0)), (22, (0, 1)), (22, (0, 2)), (23, (1, 1))])
        again = [ordered((0, 3, 2), slot=22), ordered((0, 3, 1), (1, 2, 0), slot=22), ordered((0, 9, 1), slot=23)]
        self.assertEqual([history.place(r) for _, r in history.by_slot(again, records)], [(0, 0), (0, 1), (0, 2)])


if __name__ == "__main__":
    unittest.main()
