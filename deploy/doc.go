// Package deploy holds the files that run Oriel and its surroundings: Dockerfile, compose.yaml, example settings,
// Prometheus rules and a Grafana dashboard. It has no code of its own. Its tests load every file and compare it with
// the program, so that no file becomes outdated:
//
//	compose.yaml   loads, and keeps what the service needs (loopback ports, health, key, order of start)
//	Dockerfile     builds with the Go version of go.mod, runs as a user who is not root
//	grafana        every metric and label in a query is exported by pipeline/metrics
//	prometheus     every metric and label in a rule is exported by pipeline/metrics; with the build tag promtool,
//	               Prometheus's own checker reads rules and queries and evaluates the alerts
//
// The tests of cmd load the example settings. deploy/README.md lists the pages about running the service.
package deploy
