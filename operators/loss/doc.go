// Package loss implements the losses ℓ(x) of events, each by its value and a (sub)gradient at a point x.
//
//	a  the event's vector     y  its label     w  its weight, ≥ 0     m = ⟨a, x⟩
//
//	linear     ⟨a, x⟩                    gradient  a
//	logistic   log(1 + e^{−y·m})         gradient  −y/(1 + e^{y·m})·a     y ∈ {−1, 1}
//	hinge      max(0, 1 − y·m)           gradient  −y·a where y·m < 1     y ∈ {−1, 1}
//	squared    ½(y − m)²                 gradient  (m − y)·a
//	absolute   |y − m|                   gradient  sign(m − y)·a
//	quantile   max(τ(y−m), (τ−1)(y−m))   gradient  (1−τ)·a where y < m, −τ·a where y > m     τ ∈ (0, 1)
//	portfolio  −log m                    gradient  −a/m                   m > 0
//
// The JSON form of an event, one in each record (`oriel schema` prints it for the settings):
//
//	logistic, hinge             {"features":F,"label":y,"weight":w}    y is −1, 0, 1, true or false
//	squared, absolute, quantile the same                               y is any number
//	quantile in one dimension   {"label":y}                            the decision is a threshold that follows the stream
//	linear                      {"cost":C} or {"gradient":C}           C is dense or sparse
//	portfolio                   {"relatives":[…]}                      dense
//
// F is an array of d numbers, {"indices":[…],"values":[…]}, or an object of named values (texts, numbers, booleans;
// hashed to d). A weight is optional. Numbers outside ORIEL_FEATURES_RANGE are clamped to it, and cyclic numbers wrap.
//
// All losses are convex. All but linear depend on x through m alone, so that a gradient is a number times a. Value and
// Gradient include the weight. At a kink (hinge at 1, absolute and quantile at y = m) the subgradient is zero.
//
// Gradients decide published bytes, and so must be equal on every CPU. They use package elementary, and each sum,
// product and quotient is rounded separately. Cost: one pass over the event's values and one over the dimension;
// nothing is allocated.
//
// To add a loss, write its name in Names and its case in Parse (loss.go). Add the members of its events to Body
// (body.go), the bounds of its gradients to ContributionsOf (contributions.go), a row to the table above, and lines to
// the end of testdata/golden.txt. `go test ./operators/loss` names what is missing.
package loss
