//go:build !race

package fetch

// slack is 1 without the race detector: see race_test.go.
const slack = 1
