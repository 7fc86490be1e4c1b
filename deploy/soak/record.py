"""Writes down what topics hold, from their beginnings on, until SIGTERM and then up to their ends: a soak trims them meanwhile.

The group's committed offsets say how far it is. Partitions that are added are followed within a second.
"""

import argparse
import pickle
import signal
import threading
import time

from confluent_kafka import Consumer, IsolationLevel, KafkaError, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

import history

parser = argparse.ArgumentParser()
parser.add_argument("--brokers", required=True)
parser.add_argument("--group", required=True)
parser.add_argument("--to", required=True, help="the file")
parser.add_argument("topics", nargs="+")
options = parser.parse_args()

told = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: told.set())

admin = AdminClient({"bootstrap.servers": options.brokers})
consumer = Consumer({
    "bootstrap.servers": options.brokers, "group.id": options.group, "auto.commit.interval.ms": 300, "isolation.level": "read_committed",
    "enable.partition.eof": True, "auto.offset.reset": "error", "reconnect.backoff.max.ms": 200,
})
followed = set()
reached = {}  # (topic, partition): the greatest end that was met


def follow():
    """Follows partitions that are not followed yet."""
    for topic in options.topics:
        try:
            found = admin.list_topics(topic, timeout=2).topics[topic].partitions
        except Exception as e:
            print("list topics:", e, flush=True)
            return
        fresh = [p for p in found if (topic, p) not in followed]
        if fresh:
            consumer.incremental_assign([TopicPartition(topic, p, 0) for p in fresh])
            followed.update((topic, p) for p in fresh)


def stable_ends():
    wanted = {TopicPartition(t, p): OffsetSpec.latest() for t, p in followed}
    found = admin.list_offsets(wanted, isolation_level=IsolationLevel.READ_COMMITTED)
    return {(at.topic, at.partition): future.result(30).offset for at, future in found.items()}


with open(options.to, "wb") as out:
    ends, looked = None, 0.0
    while ends is None or any(reached.get(at, 0) < end for at, end in ends.items()):
        if told.is_set() and ends is None:
            follow()
            ends = stable_ends()
        if time.monotonic() > looked + 1:
            follow()
            looked = time.monotonic()
        m = consumer.poll(0.2)
        if m is None:
            continue
        at = m.topic(), m.partition()
        if m.error() is None:
            pickle.dump((m.topic(), history.record_of(m)), out)
            reached[at] = m.offset() + 1
        elif m.error().code() == KafkaError._PARTITION_EOF:
            reached[at] = max(reached.get(at, 0), m.offset())
        elif not m.error().retriable():
            raise RuntimeError(f"{m.topic()} partition {m.partition()}: {m.error()}")
consumer.close()
