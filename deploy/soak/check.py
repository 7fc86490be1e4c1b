"""Judges a soak: reads every topic through librdkafka, once all is drained and no process runs, and prints lines of a report; those that start with
"violation: " are violations.
"""

import argparse
import os
import pickle

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, IsolationLevel, KafkaError, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

import events
import history

parser = argparse.ArgumentParser()
parser.add_argument("--brokers", required=True)
parser.add_argument("--name", required=True, help="of the deployment, and of its group")
parser.add_argument("--topic", required=True, help="the input")
parser.add_argument("--separation", type=int, default=0, help="of a user's events, at user level")
parser.add_argument("--step", type=int, help="seconds of a step by the clock; then users have periods")
parser.add_argument("--period", type=int, help="seconds of a user's period")
parser.add_argument("--most", type=int, help="records of a user that count in a period")
parser.add_argument("--delay", type=int, help="ms from the end of a step until its decision")
parser.add_argument("--order", help="the order log, where the whole input is one stream")
parser.add_argument("--recorded", help="a file that record.py has written, of the input and the order log")
parser.add_argument("--search", action="append", default=[], help="a file or directory where no canary may be")
options = parser.parse_args()

violations = 0


def violated(texts):
    global violations
    for text in texts[:5]:
        print("violation:", text)
    if len(texts) > 5:
        print(f"violation: … and {len(texts) - 5} more")
    violations += len(texts)


def consumer(isolation):
    return Consumer({
        "bootstrap.servers": options.brokers, "group.id": "soak-check", "enable.auto.commit": False, "isolation.level": isolation,
        "enable.partition.eof": True, "auto.offset.reset": "error",
    })


def read(topic, p, isolation="read_committed"):
    """All records of a partition, in order."""
    c, records = consumer(isolation), []
    low, _ = c.get_watermark_offsets(TopicPartition(topic, p), timeout=30)
    c.assign([TopicPartition(topic, p, low)])
    while True:
        m = c.poll(30)
        if m is None:
            raise TimeoutError(f"{topic} partition {p}: nothing for 30 s")
        if m.error() is None:
            records.append(history.record_of(m))
        elif m.error().code() == KafkaError._PARTITION_EOF:
            c.close()
            return records
        elif not m.error().retriable():
            raise RuntimeError(f"{topic} partition {p}: {m.error()}")


admin = AdminClient({"bootstrap.servers": options.brokers})


def ends(topic, p, isolation):
    at = TopicPartition(topic, p)
    return admin.list_offsets({at: OffsetSpec.latest()}, isolation_level=isolation)[at].result(30).offset


def hanging(topic, p):
    """A transaction that is open after everything has ended hides all that follows it."""
    stable, end = (ends(topic, p, level) for level in (IsolationLevel.READ_COMMITTED, IsolationLevel.READ_UNCOMMITTED))
    return [] if stable == end else [f"{topic} partition {p}: a transaction hangs at offset {stable} of {end}"]


topics = admin.list_topics(timeout=30).topics
partitions = range(len(topics[options.topic].partitions))
ours = sorted(t for t in topics if t.startswith(options.name + "."))
decisions, dead = options.name + ".decisions", options.name + ".dead-letter"

for topic in [options.topic, *ours]:
    for p in topics[topic].partitions:
        violated(hanging(topic, p))

group = ConsumerGroupTopicPartitions(options.name, [TopicPartition(options.topic, p) for p in partitions])
taken = admin.list_consumer_group_offsets([group])[options.name].result(30)
below = {at.partition: max(at.offset, 0) for at in taken.topic_partitions}



slots = []  # by the clock: (slot, record) in the order


def whole_topic():
    """The records that the one stream has taken, in its order."""
    held = {}
    with open(options.recorded, "rb") as file:
        while True:
            try:
                topic, record = pickle.load(file)
            except EOFError:
                break
            held.setdefault(topic, []).append(record)
    if options.step:
        slots.extend(history.by_slot(held[options.order], held[options.topic]))
    sequence = [r for _, r in slots] or history.merged(held[options.order], held[options.topic])
    if len(sequence) != len(held[options.topic]):
        violated([f"{len(held[options.topic])} records are in the input, and the order log has {len(sequence)}"])
    print(f"{len(held[options.order])} order records put {len(sequence)} records of {len(partitions)} partitions in order")
    records, found = history.taken(sequence, below)
    violated(found)
    return records


# Of each stream: its name, and the records that it has taken, in its order. Its decisions are in the partition of its place in the list.
if options.order:
    streams = [(options.topic, whole_topic())]
else:
    streams = [(str(p), [r for r in read(options.topic, p) if r.offset < below[p]]) for p in partitions]
records, null = [], set()
count = repeats = 0
for p, (stream, of) in enumerate(streams):
    bad = history.absent(slots, options.period, options.most) if options.step else history.null_events(of, options.separation)
    found, repeated = history.one_value(p, read(decisions, p, "read_uncommitted"))
    violated(found)
    committed = read(decisions, p)
    if options.step:
        violated(history.right_steps(stream, committed, slots, bad, options.step, options.delay))
    else:
        violated(history.in_order(p, stream, committed, len(of)))
    if not options.separation and not options.step:
        violated(history.right_events(p, committed, of, bad))
    count += len(committed)
    repeats += repeated
    records += of
    null |= bad
letters = [letter for p in topics[dead].partitions for letter in read(dead, p)]
violated(history.complete_letters(options.topic, records, null, letters))
print(f"{len(records)} records taken, {count} decisions committed, {repeats} of them published more than once, {len(letters)} dead letters")


def leaks():
    """Where a canary is that must not be there."""
    canary = events.CANARY.encode()
    for topic in ours:
        for p in topics[topic].partitions if topic != dead else []:
            for r in read(topic, p, "read_uncommitted"):
                fields = [r.key, r.value, *(k.encode() for k, _ in r.headers), *(v for _, v in r.headers)]
                if any(canary in field for field in fields if field):
                    yield f"a canary is in {topic} partition {p} offset {r.offset}"
    for place in options.search:
        if not os.path.exists(place):
            yield f"{place} is not there to be searched"
        files = [place] if os.path.isfile(place) else [os.path.join(d, f) for d, _, of in os.walk(place) for f in of]
        for path in files:
            with open(path, "rb") as file:
                if canary in file.read():
                    yield f"a canary is in {path}"


violated(list(leaks()))
print("librdkafka's judgement:", "nothing is violated" if violations == 0 else f"{violations} violations")
