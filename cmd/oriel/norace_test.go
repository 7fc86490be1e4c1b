//go:build !race

package main

// slack is 1 without the race detector: see race_test.go.
const slack = 1

// fewer is 1 without the race detector: see race_test.go.
const fewer = 1
