// Package protection defines the promise that decisions state: what is protected, for how long, and the loss.
//
//	Scope  the releases over which one unit's loss is bounded: Window, Decay, Lifetime or PerStep
//	Unit   in what neighbouring streams differ: an Event, all events of a User, or a user's events of one period (UserPeriod)
//	Terms  Scope and Unit together; every number and every sentence about a promise follows from them
//
//	W  window, steps        H  memory, steps: sums decay by 1 − 1/H a step      T  lifetime, steps
//	s  separation, steps between accepted events of one user                    A  age, steps
//	P  period, steps        k  records of one user that count in a period
//
// Scope and Unit are closed sums: only this package defines their values. Code outside must not switch on the type of a
// value. It must call the method with the needed property, for example Span, End or Words. A mechanism names the scopes
// that it accepts by their types, in its row of package mechanisms.
//
// To add a scope, add a type in its own file here, and a row of a mechanism that accepts it. The compiler lists the
// methods that it must have.
//
// A Guarantee is a promise with its numbers.
package protection
