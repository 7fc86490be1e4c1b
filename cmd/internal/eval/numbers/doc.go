// Package numbers compares the numbers about events that an operator publishes with the true numbers, which the same
// operator computes over sums without noise. Such numbers have no score.
package numbers
