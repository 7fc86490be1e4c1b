// Package online has the loss streams of the experiments in online convex optimisation, and computes the regret against
// the best fixed point of a set in hindsight.
package online
