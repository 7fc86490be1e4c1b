"""Decisions of a topic, by confluent-kafka, committed records alone."""

import uuid
from collections.abc import Iterator
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition

LOOK = 64  # offsets from the end where the newest decision is looked for at first: a commit has an offset of its own
WAIT = 30.0  # seconds for brokers to answer

Taken = tuple[int, float | None, bytes]  # partition, timestamp in seconds, value


class Topic:
    """A topic of decisions and the topic of its descriptor."""

    def __init__(self, name: str, bootstrap: str, descriptor: str | None, config: dict[str, Any]) -> None:
        self.name = name
        self.descriptor_name = descriptor or name.removesuffix(".decisions") + ".descriptor"
        self._consumer = Consumer({
            "enable.metrics.push": False, "fetch.wait.max.ms": 100, **config, "bootstrap.servers": bootstrap, "group.id": config.get("group.id", "oriel-scorer-" + uuid.uuid4().hex),
            "isolation.level": "read_committed", "enable.auto.commit": False, "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
        })
        self.partitions = self._count(name)
        self._next = [0] * self.partitions

    def _count(self, topic: str) -> int:
        found = self._consumer.list_topics(topic, timeout=WAIT).topics[topic]
        if found.error is not None:
            raise KafkaException(found.error)
        return len(found.partitions)

    def descriptor(self) -> bytes:
        """Gives the newest descriptor."""
        newest = b""
        for _, _, newest in self._read(self.descriptor_name, {0: self._ends(self.descriptor_name, 0)[0]}):
            pass
        if not newest:
            raise LookupError(f"{self.descriptor_name} is empty: `oriel topics` writes it")
        return newest

    def _ends(self, topic: str, partition: int) -> tuple[int, int]:
        low, high = self._consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=WAIT)
        return low, high

    def newest(self) -> Iterator[Taken]:
        """Gives the last decisions of each partition."""
        for p in range(self.partitions):
            low, high = self._ends(self.name, p)
            back, found = LOOK, False
            while not found:
                start = max(low, high - back)
                for taken in self._read(self.name, {p: start}):
                    found = True
                    yield taken
                if start == low:
                    break
                back *= LOOK

    def more(self) -> Iterator[Taken]:
        """Gives decisions that were committed since."""
        yield from self._read(self.name, dict(enumerate(self._next)))

    def _read(self, topic: str, starts: dict[int, int]) -> Iterator[Taken]:
        """Reads partitions to their ends."""
        self._consumer.assign([TopicPartition(topic, p, start) for p, start in starts.items()])
        left = set(starts)
        while left:
            message = self._consumer.poll(WAIT)
            if message is None:
                raise TimeoutError(f"{topic}: no answer of the brokers")
            error, partition, offset, value = message.error(), message.partition(), message.offset(), message.value()
            if error is not None and error.name() != "_PARTITION_EOF" or partition is None:
                raise KafkaException(error)
            if error is not None:
                left.discard(partition)
            elif value is not None:
                kind, ms = message.timestamp()
                yield partition, ms / 1000 if kind else None, value
            if topic == self.name and offset is not None and offset >= 0:
                self._next[partition] = offset + (0 if error else 1)
        self._consumer.unassign()
