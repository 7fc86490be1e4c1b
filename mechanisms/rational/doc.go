// Package rational computes properties of rational filters in directed rounding: their zeros, the partial fractions of
// their inverses, and sums of squares of sequences Σ w_i·p_i^j over any number of terms, without loops over the terms.
//
//	q_k, R_k  poles and residues, dyadics of 30 bits      p_i, T_i  poles and residues of the inverse, intervals
//
// Every result is an Interval that is proved to contain the exact number. A filter without such a proof is refused, for
// example if two zeros cannot be separated. mechanisms/blt and mechanisms/decay use the package for accounting. No
// result determines a stream's bytes.
//
//	poles, residues, ok := rational.Fraction{Poles: poles, Residues: residues}.Inverse()
//	loss := rational.Sum{Rates: poles, Weights: residues}.Energy(1024) // Σ_{j<1024} (ΣT_ip_i^j)²
package rational
