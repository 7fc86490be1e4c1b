// Package demo runs the service over real flights on a broker in its own process, once for each mechanism. It compares
// the decisions with those of the same learner without privacy, and private numbers with the true ones.
//
// The noise follows from a public number, so it hides nothing. This does no harm, because the flights are public. A
// real service draws its own secret noise.
package demo
