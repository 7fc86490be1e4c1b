// Package demo runs the service over real flights on a broker in its own process, once for each mechanism, and shows
// what its decisions are worth beside the same learner without privacy, and private numbers beside the truth.
//
// Noise follows from a number, so that it hides nothing: the flights are public. A service draws its own.
package demo
