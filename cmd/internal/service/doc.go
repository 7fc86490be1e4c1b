// Package service turns settings and a machine into a running service: it connects to the brokers, checks topics and
// keys, opens the local store, and runs the pipeline with its log, its metrics and its pages. The commands that work on
// a deployment (run, topics, schema pull, order, letters, replay --save and --check) are a function each. Package main
// has their flags and texts.
//
// A Host is what a service has from its machine. A test gives it another one, so that a service runs within the test as
// it does alone.
package service
