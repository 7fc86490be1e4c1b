//go:build race

package main

// slack is how much more memory a process takes with the race detector, which shadows every word with several.
const slack = 8

// fewer divides what a test repeats that is as good a test of races when it is done a few times.
const fewer = 4
