//go:build race

package main

// slack is how much more memory a process takes with the race detector, which shadows every word with several.
const slack = 8
