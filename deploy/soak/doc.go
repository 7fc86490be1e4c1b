//go:build soak

// Command soak runs the service under faults on real Apache Kafka brokers and checks the result with librdkafka.
//
//	.ci/soak CACHE [--brokers 1|3] [--stream partition|topic] [--users] [--seed 1] [--for 4m] [--faults 120]
//	                [--only 'broker kill']
//
// installs the needed programs below CACHE. It starts a cluster of one broker or of three (three replicas, two in
// sync), three `oriel run` of one group and an `oriel letters`, each behind a proxy of its own. A producer (feed.py)
// mixes bad records of many kinds, canaries, codecs and aborted transactions into the events. Then, for the given time,
// it causes one fault after another, drawn from the seed:
//
//	processes   killed, at any time or between a decision's first readability and its commit; all killed; frozen for longer than the session
//	            or shorter; told to end; one fewer for a while. Meanwhile the state directory stays, is deleted, is replaced by an older copy of
//	            any process's, has bits flipped, or a file cut. Full disk.
//	brokers     killed, at any time or between the end of a transaction and its markers; stopped; frozen until others lead, then woken
//	topics      where the whole input is one stream: partitions added; input and order log deleted up to where the state stands
//	network     of one process or all, all connections or every second one: delay, silence, answers lost, refused, reset; what was held
//	            arrives late or never
//
// At the end the service drains the input, and check.py reads every topic through librdkafka. It uses no code of
// Oriel's. With linear losses, ε = 10⁸ and µ = 1, the difference t·x_{t+1} − (t−1)·x_t spells the event that step t
// counted.
//
//	one value      no (stream, incarnation, index) has two values, read uncommitted
//	exactly once   committed decisions are 1, 2, …, n in order, each of the right event, n the records below the group's offset
//	letters        every record that is no event has one letter, and no other record has any; place and bytes are right
//	nothing else   no canary in decisions, changelog, verdicts, logs, pages, state directories
//	no hang        the end of the input is reached within a minute of the last fault, and after a fault that is waited for within 45 s
//	no refusal     no process ends by itself or with a code other than 0 when told to, no partition stops
//
// With --stream topic the input has 12 partitions, or more, and is one stream: one process works and two stand by. The
// owner is the victim in half of the faults. A recorder saves the input and the order log before they are trimmed. The
// events of the stream must be in the order that the order log defines, by the documented rule. The service must
// recover from a fault of one process within a session and 4 s.
//
// Of three brokers the next one ends when all replicas are in sync again, because with two of them away no broker takes
// a record. The report says how long the other brokers counted on the one that was away: a broker's session, which is
// 6 s here and 9 s by default, and two to four seconds more where it was the active controller.
//
// With --users: user level, named features, ε = 1; steps are compared with `oriel replay --check` from the first state
// on.
//
// A run prints its faults and a report; the exit code is 1 if a line of the report is a violation. Equal seeds give
// equal faults, but not equal timing. All its files are below one directory, which is kept if something is wrong. It
// ends every process that it starts. It needs Linux and, for full disks, the right to mount a tmpfs; the report says
// when these faults are left out.
package main
