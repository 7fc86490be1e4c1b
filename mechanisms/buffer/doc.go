// Package buffer is the arithmetic in which a mechanism carries past noise: a buffer of a coordinate holds, in integers
// of 128 bits with some fraction bits, a geometric sum of the integers that were drawn.
//
//	n_t  draw, within Reach scales      f  fraction bits      q  pole, a dyadic of 30 bits      C  buffer
//
//	C ← ⌊q·C⌋ + n·2^f      so that 0 ≤ Σ_{j≥1} q^{j−1}·n_{t+1−j} − 2^{−f}·C ≤ 2^{−f}/(1 − q)
//
// The package also says the form of a carry's states. blt and forget have releases and proofs of their own.
package buffer
