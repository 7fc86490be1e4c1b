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


def ordered(*entries):
    """An order record: partition, end and epoch of each entry."""
    def uvarint(n):
        return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + uvarint(n >> 7)

    body, before = b"", -1
    for partition, end, epoch in entries:
        body += uvarint(partition - before - 1) + uvarint(end) + uvarint(epoch)
        before = partition
    return Record(0, 0, None, bytes(17) + body + bytes(16), [])


class Order(unittest.TestCase):
    def test_entries_are_read(self):
        self.assertEqual(list(history.entries(ordered((1, 5, 0), (3, 1000, 7)))), [(1, 5, 0), (3, 1000, 7)])

    def setUp(self):
        self.records = [Record(p, offset, b"", b"", []) for p in (0, 1) for offset in (0, 2, 3)]

    def places(self, *order):
        return [history.place(r) for r in history.merged(order, self.records)]

    def test_partitions_ascend_within_a_record(self):
        self.assertEqual(self.places(ordered((0, 3, 0), (1, 1, 0)), ordered((0, 4, 0))), [(0, 0), (0, 2), (1, 0), (0, 3)])

    def test_a_repeat_and_an_earlier_epoch_count_for_nothing(self):
        self.assertEqual(self.places(ordered((0, 3, 2)), ordered((0, 3, 2)), ordered((0, 4, 1))), [(0, 0), (0, 2)])

    def test_what_is_taken_is_the_beginning(self):
        sequence = history.merged([ordered((0, 3, 0), (1, 1, 0)), ordered((0, 4, 0))], self.records)
        self.assertEqual(history.taken(sequence, {0: 3}), (sequence[:2], []))
        of, found = history.taken(sequence, {0: 4})
        self.assertEqual((len(of), len(found)), (3, 1))


if __name__ == "__main__":
    unittest.main()
