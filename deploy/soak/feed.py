"""Sends events at a rate until SIGTERM, and ends when every record is acknowledged: five codecs, bad records of many kinds, canaries, and
transactions of which every second one is aborted. Where a broker is away it waits: nothing is given up.

SIGUSR1 says that partitions were added to the topic. Which record lies at which offset is not written down here: the checker reads it from the topic.
"""

import argparse
import random
import signal
import sys
import threading
import time

from confluent_kafka import KafkaError, KafkaException, Producer

import events

parser = argparse.ArgumentParser()
parser.add_argument("--brokers", required=True)
parser.add_argument("--topic", required=True)
parser.add_argument("--partitions", type=int, required=True)
parser.add_argument("--rate", type=float, required=True, help="records a second")
parser.add_argument("--seed", type=int, required=True)
parser.add_argument("--users", action="store_true")
parser.add_argument("--clock", action="store_true", help="events that are counted, for steps by the clock")
parser.add_argument("--wander", action="store_true", help="users send to every partition, not to one alone")
options = parser.parse_args()

told = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: told.set())
grown = threading.Event()
signal.signal(signal.SIGUSR1, lambda *_: grown.set())

failures = []
numbers = iter(range(events.BASE**events.DIGITS))
taking = threading.Lock()


def producer(**more):
    return Producer({
        "bootstrap.servers": options.brokers, "enable.idempotence": True, "linger.ms": 5,
        "reconnect.backoff.max.ms": 200, "retry.backoff.max.ms": 200, **more,
    })


def delivered(error, _message):
    if error is not None:
        failures.append(str(error))


def send(to, random_, **more):
    """Sends one record; of twelve, one is bad."""
    with taking:
        number = next(numbers)
    form = events.counted_value if options.clock else events.named_value if options.users else events.linear_value
    value = form(number)
    kind = "v"
    partition = random_.randrange(options.partitions)
    headers = [(events.CANARY, events.CANARY.encode())]
    if random_.randrange(12) == 0:
        kind = random_.choice([k for k in events.BAD if options.users or k != "nobody"])
        value = events.BAD[kind](value)
    if options.users and kind != "nobody":
        headers.append(("user", b"user%d-%d" % (0 if options.wander else partition, random_.randrange(200))))
    if kind == "headers":
        headers += [("h", b"")] * events.MANY_HEADERS
    while True:
        try:
            to.produce(options.topic, value, events.key(number, kind), partition, headers=headers, **more)
            return
        except BufferError:
            to.poll(0.1)
        except KafkaException as e:
            if e.args[0].code() != KafkaError._UNKNOWN_PARTITION:
                raise
            to.list_topics(options.topic, timeout=20)  # this producer has not heard of the partition


def transactions(random_):
    """A few records in each of a second's transactions. A new producer of the same id ends what an old one left open."""
    commit = True
    while not told.is_set():
        try:
            to = producer(**{"transactional.id": "soak-feed", "transaction.timeout.ms": 10000, "message.timeout.ms": 9000})
            to.init_transactions(20)
            while not told.wait(1):
                to.begin_transaction()
                for _ in range(5):
                    send(to, random_)
                if commit:
                    to.commit_transaction(20)
                else:
                    to.abort_transaction(20)
                commit = not commit
        except KafkaException as e:
            print("transaction:", e, flush=True)
            time.sleep(0.2)
    # The last one may have been torn by a broker's death. A transaction that has every partition and is aborted ends whatever is open.
    for _ in range(10):
        try:
            to = producer(**{"transactional.id": "soak-feed"})
            to.init_transactions(20)
            to.begin_transaction()
            for partition in range(options.partitions):
                to.produce(options.topic, b"", b"", partition)
            to.flush(20)
            to.abort_transaction(20)
            return
        except KafkaException as e:
            print("transaction:", e, flush=True)
    failures.append("the last transaction of the input does not end")


def added(by):
    """The number of partitions once there are more."""
    while True:
        try:
            found = len(by.list_topics(options.topic, timeout=5).topics[options.topic].partitions)
            if found > options.partitions:
                return found
        except KafkaException as e:
            print("list topics:", e, flush=True)


random_ = random.Random(options.seed)
plain = [producer(**{"compression.codec": codec, "message.timeout.ms": 0}) for codec in ("none", "gzip", "snappy", "lz4", "zstd")]
beside = threading.Thread(target=transactions, args=(random.Random(options.seed + 1),))
beside.start()
sent, began = 0, time.monotonic()
while not told.is_set():
    while sent < (time.monotonic() - began) * options.rate:
        send(random_.choice(plain), random_, on_delivery=delivered)
        sent += 1
    for p in plain:
        p.poll(0)
    if grown.is_set():
        grown.clear()
        options.partitions = added(plain[0])
    time.sleep(0.02)
beside.join()
for p in plain:
    p.flush()
print(f"{sent} records sent beside the transactions", flush=True)
for text in failures:
    print("failed:", text, flush=True)
sys.exit(1 if failures else 0)
