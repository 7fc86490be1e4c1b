// Package embedded runs a Kafka-compatible broker inside the process, for the demo and for tests.
//
// It is franz-go's kfake on a data directory: records live in files and memory stays small. The broker contract in
// pipeline/pipetest holds for it as for Apache Kafka.
//
// It does not replace Kafka: it is one event loop without replication or authentication, and files are not synced, so
// power loss may lose records. Transaction markers are written at once and coordinators are never loading, so it never
// sends the errors with which a real cluster asks for retries (14, 15, 16, 51). Its speed is no indication of Kafka's.
// It accepts records that a real broker's default limits refuse. Do not keep data on it that must survive.
//
// Its groups differ from a real broker's in three ways, each of which could leave a group without owners for ever:
//   - A member whose connection ends while its join or sync waits gets no session timeout. So listener.go hides the end
//     of a connection from kfake for a minute, and every dead member is found by its session.
//   - The session of a member runs on while its join or sync waits; at its end the member is dropped without an answer.
//     group.Member sends heartbeats meanwhile, and joins again when the broker no longer knows it.
//   - Each join starts the rebalance timeout again. group.Member repeats a join that was cut off under the same member
//     id, and only after more than two such timeouts.
//
// A fourth difference is harmless: a leader that rejoins with its static id learns that it is the leader. A real broker
// reports this only in a later version of the request. The assignments that group.Member then sends have no effect.
//
// Topics with message.timestamp.type=LogAppendTime get the broker's time (appendtime.go), except markers of
// transactions. A search by time finds their records by the producer's times.
//
// If the answer to a fetch for committed records ends at the byte limit of the request, not of the partition, it does
// not list the aborted transactions. Then records of aborted transactions look like committed records.
package embedded
