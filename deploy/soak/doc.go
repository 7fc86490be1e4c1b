//go:build soak

// Package soak runs the service under faults on real Apache Kafka brokers and checks the result with librdkafka.
//
//	.ci/soak CACHE [--brokers 1|3] [--stream partition|topic] [--users] [--step 2s] [--seed 1] [--for 4m]
//	                [--faults 120] [--only 'broker kill']
//
// installs the needed programs below CACHE. It starts a cluster of one broker or of three (three replicas, two in
// sync), three processes `oriel run` of one group, and one process `oriel letters`, each behind a proxy of its own. A
// producer (feed.py) mixes bad records of many kinds, canaries, codecs and aborted transactions into the events. Then,
// for the given time, it causes one fault after another, drawn from the seed:
//
//	processes   killed at any time, or between the moment when a decision becomes readable and its commit; all killed;
//	            frozen for longer than the session, or shorter; stopped by SIGTERM; absent for a while. While a process is
//	            down, its state directory stays, is deleted, is replaced by an older copy of any process's directory, has
//	            bits flipped, or has a file cut. A full disk.
//	brokers     killed at any time, or between the end of a transaction and its markers; stopped; frozen until other
//	            brokers lead, then woken
//	topics      with --stream topic: partitions are added; input and order log are deleted up to the state
//	network     of one process or of all, on all connections or on every second one: delay, silence, lost answers,
//	            refused connections, resets; delayed frames arrive late or never
//
// At the end the service consumes the rest of the input, and check.py reads every topic through librdkafka. It uses no
// code of Oriel. With linear losses, ε = 10⁸ and µ = 1, the difference t·x_{t+1} − (t−1)·x_t identifies the event of
// step t. It checks:
//
//	one value      no (stream, incarnation, index) has two values, also among uncommitted records
//	exactly once   the committed decisions are 1, 2, …, n in order, each of the right event; n is the number of records
//	               below the group's offset
//	letters        every record that is no event has exactly one dead letter, with the right place and bytes, and no
//	               other record has one
//	nothing else   no canary is in decisions, changelog, record statuses, logs, HTTP pages or state directories
//	no hang        the end of the input is reached within a minute of the last fault, and within 45 s of a fault that the
//	               schedule waits for
//	no refusal     no process ends by itself, SIGTERM gives exit code 0, and no partition stops
//
// With --stream topic the input has 12 partitions or more and is one stream: one process owns it and two stand by. The
// owner is the victim in half of the faults. A recorder saves the input and the order log before they are trimmed. The
// events of the stream must be in the order that the order log defines by the documented rule. The service must recover
// from a fault of one process within a session and 4 s.
//
// With three brokers, the next broker fault waits until all replicas are in sync again, because with two brokers away
// no broker accepts a record. The report states how long the other brokers depended on a broker that was away. This
// takes a broker's session, which is 6 s here and 9 s by default, and two to four seconds more if it was the active
// controller.
//
// With --users the deployment has user level, named features and ε = 1, and check.py leaves the decisions to `oriel
// replay --check`, which compares the steps from the first state on.
//
// With --stream topic --step 2s the clock closes the steps of the stream, which counts events and adds up their values.
// Of each user, the first five records in a period of five steps count. The brokers' times in the input say in which
// step a record is. check.py recomputes the numbers: each step has exactly one decision, empty ones too, each event is
// in exactly one step, and each decision has the time of its hand-over. Nothing is trimmed, and a recovery may take a
// step longer.
//
// A run prints its faults and a report. The exit code is 1 if a line of the report is a violation. Equal seeds give
// equal faults, but not equal timing. All files are below one directory, which is kept if something is wrong. The
// command ends every process that it starts. It needs Linux and, for full disks, the right to mount a tmpfs; the report
// states when these faults are left out.
package soak
