// Package rational computes properties of rational filters in directed rounding: their zeros, the partial fractions of
// their inverses, and sums of squares of sequences Σ w_i·p_i^j over any number of terms, without loops over the terms.
//
//	q_k, R_k  poles and residues, dyadics of 30 bits      p_i, T_i  poles and residues of the inverse, intervals
//
// Every figure is an Interval that certainly holds the true one. A filter whose figures are not certain is refused, for
// example if a zero cannot be separated from another one. mechanisms/blt and mechanisms/decay use it for accounting.
// Nothing here decides a stream's bytes.
//
//	poles, residues, ok := rational.Fraction{Poles: poles, Residues: residues}.Inverse()
//	loss := rational.Sum{Rates: poles, Weights: residues}.Energy(1024) // Σ_{j<1024} (ΣT_ip_i^j)²
package rational
