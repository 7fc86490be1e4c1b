// Package protection says who is protected, for how long, and how much is lost: the promise that decisions state.
//
//	Scope  which releases one unit's loss is bounded over: Window, Decay, Lifetime or PerStep
//	Unit   what is exchanged between neighbouring streams: an Event, or all events of a User
//	Terms  both; every figure and every sentence about a promise follows from them
//
//	W  window, steps        H  memory, steps: sums decay by 1 − 1/H a step      T  lifetime, steps
//	s  separation, steps between accepted events of one user                    A  age, steps
//
// Scope and Unit are closed sums: only this package defines values of them, and each value answers for itself. Code
// outside must not ask which value it has; it asks for what it needs, for example Span, End or Words. A mechanism names
// the scopes that it takes by their types, in its row of package mechanisms.
//
// A further scope is a type in a file of its own here, and a row of a mechanism that takes it. The compiler lists the
// methods that it must have. A scope that is stored needs a member in Figures and a case in scopeOf, too.
//
// Guarantee is a promise with its figures. AppendGuarantee stores one as JSON for a ledger and other programs. A stored
// curve is a table of ages, in windows or in memories. Each has µ and the ε that it proves, and bounds what lies
// between.
package protection
