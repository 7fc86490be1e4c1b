// Package embedded runs a Kafka-compatible broker inside the process, for the demo and for tests.
//
// It is franz-go's kfake on a data directory: records live in files and memory stays small. The broker contract in
// pipeline/pipetest holds for it as for Apache Kafka.
//
// What it is not: a Kafka. It is one event loop without replication or authentication; files are not synced, so power
// loss may lose records; transaction markers are written at once and coordinators are never loading, so the retries
// that a real cluster asks for (errors 14, 15, 16, 51) are never seen; its speed says nothing about Kafka's. It takes
// records that a real broker's default limits refuse. Run nothing on it that must survive.
//
// Its groups differ from a real broker's in three ways, each of which could leave a group without owners for ever:
//   - A member whose connection ends while its join or sync waits gets no session timeout. Here the end of a connection is
//     told to kfake a minute late (listener.go), so that every dead member is found by its session.
//   - The session of a member runs on while its join or sync waits; at its end the member is dropped without an answer.
//     kafka.Group sends heartbeats meanwhile, and joins anew when one says that it is not known.
//   - Each join starts the rebalance timeout again. kafka.Group takes up a join that it gave up under the same member id,
//     and only after more than two such timeouts.
//
// A fourth does no harm: a leader that takes its place in the group again is told that it is the leader, as a real
// broker does from a later version of the request on; the shares that kafka.Group sends then change nothing.
//
// A fetch for committed records whose answer ends at the byte limit of the request, not of the partition, does not say
// which transactions were aborted: their records in it are taken for committed ones.
package embedded
