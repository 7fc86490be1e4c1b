// Package service turns settings and a machine into a running service. It connects to the brokers, checks topics and
// keys, opens the local store, and runs the pipeline with its log, metrics and pages. Each command that works on a
// deployment (run, topics, schema pull, experiment next, order, letters, replay --save and --check) is a function of
// this package. Package main has their flags and texts.
//
// A Host is everything that a service uses of the computer it runs on. A test passes another Host, so that the service
// runs inside the test as it does in a process of its own.
package service
