// Package demo runs the service over real flights on a broker in its own process, once for each mechanism. It compares
// the decisions with the same learner without privacy, and private numbers with the truth.
//
// Noise follows from a public number, so it hides nothing; that is fine because the flights are public. A real service
// draws its own noise.
package demo
