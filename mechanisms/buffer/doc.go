// Package buffer holds the arithmetic in which a mechanism carries past noise. A buffer of a coordinate is a geometric
// sum of the drawn integers, in 128 bits with some fraction bits.
//
//	n_t  draw, within Reach scales      f  fraction bits      q  pole, a dyadic of 30 bits      C  buffer
//
//	C ← ⌊q·C⌋ + n·2^f      so that 0 ≤ Σ_{j≥1} q^{j−1}·n_{t+1−j} − 2^{−f}·C ≤ 2^{−f}/(1 − q)
//
// The package also defines the encoding of a carry's states. Releases and proofs are in packages blt and decay.
package buffer
