// Package shape has what feasible sets share: their properties, sums and lengths of vectors, points of a simplex, and
// the tangent spaces on which the entries of some blocks sum to 0.
//
// Sums have a fixed order, because everything here decides published bytes.
package shape
