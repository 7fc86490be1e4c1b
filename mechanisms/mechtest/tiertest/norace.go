//go:build !race

package tiertest

// Slack is 1 without the race detector: see race.go.
const Slack = 1

// Fewer is 1 without the race detector: see race.go.
const Fewer = 1
