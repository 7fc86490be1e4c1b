//go:build !race

package repotest

// Slack is 1 without the race detector: see race_test.go.
const Slack = 1

// Fewer is 1 without the race detector: see race_test.go.
const Fewer = 1
