// Package embedded runs a Kafka-compatible broker inside the process, for the demo and for tests.
//
// It is franz-go's kfake on a data directory: records live in files and memory stays small. The broker contract in
// pipeline/pipetest holds for it as for Apache Kafka.
//
// What it is not: a Kafka. It is one event loop without replication or authentication; files are not synced, so power loss
// may lose records; transaction markers are written at once and coordinators are never loading, so the retries that a real
// cluster asks for (errors 14, 15, 16, 51) are never seen; its speed says nothing about Kafka's. It takes records that a
// real broker's default limits refuse. Run nothing on it that must survive.
package embedded
