// Package rational knows rational filters and what becomes of them in directed rounding: their zeros, the partial
// fractions of their inverses, and sums of squares of sequences Σ w_i·p_i^j over any number of terms, without loops
// over these.
//
//	q_k, R_k  poles and residues, dyadics of 30 bits      p_i, T_i  poles and residues of the inverse, intervals
//
// Every figure is an Interval that certainly holds the true one; what is not certain, a zero that is not parted from
// another one, for example, is refused. mechanisms/blt and mechanisms/decay account with it. Nothing here decides a
// stream's bytes.
//
//	poles, residues, ok := rational.Fraction{Poles: poles, Residues: residues}.Inverse()
//	loss := rational.Sum{Rates: poles, Weights: residues}.Energy(1024) // Σ_{j<1024} (ΣT_ip_i^j)²
package rational
