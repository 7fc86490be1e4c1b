// Package online has the streams of losses of online convex optimisation that experiments play, and the regret to the
// best fixed point of a set in hindsight.
package online
