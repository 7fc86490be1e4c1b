// Package tables has the curves x(v) = −F⁻¹(v) of the two laws that package noise draws from, v in (0, 1/2), as
// integers made by generator_test.go. Each curve has two tables; package noise evaluates them.
//
// A lower-tail value v with lz leading zero bits is in octave lz−1. The six bits after its leading one are its segment,
// and the rest is its place h in [0,1) in the segment. With t = 1 − h the curve is a polynomial in t,
//
//	x(v) = c0 + c1·t + … + c7·t^7,   every c ≥ 0,
//
// in unsigned fixed point. In the fine table, c0 and x have 61 (Gaussian) or 59 (Laplace) fraction bits, the other
// coefficients Guard more. With 24 octaves, one draw in 2^23 takes the slow path; one octave more or less has no
// measurable effect. A row is one cache line.
//
// The coarse table has eight octaves of the fine one's segments with polynomials of degree 5, whose coefficients all
// have the fraction bits of x. It decides nearly every draw; the fine table is for the draws that it leaves in doubt.
package tables
