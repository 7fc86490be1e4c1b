// Command bench measures the service end to end on a real broker: flights as named-feature JSON in, one window-private
// decision an event out, exactly once.
//
//	go run ./deploy/bench --brokers 127.0.0.1:9092 [--events 2000000] [--partitions 4] [--runs 3]
//
// It fills an input topic once, then runs `oriel run` as one process a run, each time a new deployment, and prints the
// events a second between the first fetch and the last commit, and the median. Client and broker share the machine.
// RESULTS.md holds what was measured, where and when.
package main
