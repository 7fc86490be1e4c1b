// Package deploy holds what runs Oriel and its surroundings: Dockerfile, compose.yaml, example settings, Prometheus
// rules and a Grafana dashboard. It has no code of its own; its tests load every file and compare it with the program,
// so that none of them can rot:
//
//	compose.yaml   loads, and keeps what the service needs (loopback ports, health, key, order of start)
//	Dockerfile     builds with the Go version of go.mod, runs as a user who is not root
//	grafana        every metric and label in a query is exported by pipeline/metrics
//	prometheus     likewise; with the build tag promtool, Prometheus's own checker reads rules and queries and plays the alerts
//
// The settings in examples are loaded by the tests of cmd. deploy/README.md lists the pages about running the service.
package deploy
