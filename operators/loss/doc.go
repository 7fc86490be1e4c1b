// Package loss holds the losses ℓ(x) that an event can bring, each as a value and a (sub)gradient at a point x.
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
// What an event looks like, in JSON, one a record (`oriel schema` prints it for the settings):
//
//	logistic, hinge             {"features":F,"label":y,"weight":w}    y is −1, 0, 1, true or false
//	squared, absolute, quantile the same                               y is any number
//	quantile in one dimension   {"label":y}                            the decision is a threshold that follows the stream
//	linear                      {"cost":C} or {"gradient":C}           C is dense or sparse
//	portfolio                   {"relatives":[…]}                      dense
//
// F is an array of d numbers, {"indices":[…],"values":[…]}, or an object of named values (texts, numbers, booleans;
// hashed to d); a weight may be left out. Numbers outside a range of ORIEL_FEATURES_RANGE are clamped to it, and cyclic
// ones wrap.
//
// All are convex, and all but linear depend on x through m alone: a gradient is a number times a. Value and Gradient
// carry the weight. At a kink (hinge at 1, absolute and quantile at y = m) the subgradient is zero.
//
// A gradient decides published bytes, so it uses package elementary: additions, products and quotients rounded one by
// one, the same on every CPU. Cost: one pass over the event's values and one over the
// dimension; nothing is allocated.
//
// To add a loss: its name in Names and its case in Parse (loss.go), the members of its events in Body (body.go), what
// its gradient may contribute in ContributionsOf (contributions.go), a row in the table above, and lines at the end of
// testdata/golden.txt. `go test ./operators/loss` names what is missing.
package loss
