// Package block computes the integer contributions of counts, sums, squares and quantiles over public cells, and their
// sensitivity.
//
//	a, b, c, w  public weights of the columns: count, x, x² − ½, bins      x  a value in [−1, 1]      V  a weight in [0, 1]
//	A, B, C, K  the same in units of the lattice, rounded down             m  bins of [−1, 1], of equal width
//	r_k         coefficients of (1−z)^{−1/2}: 1, ½, ⅜, …                   R  the lower triangular Toeplitz matrix of r
//
// A contribution has at most one cell that is not zero: V·(A, Bx, C(x²−½), K·column of R of the bin of x). Its floats
// are first converted to three integers, each in a public range, and all later arithmetic is in integers. Therefore the
// distances hold for every input. PROOF.md has the argument.
//
// R·R is the matrix of prefix sums, so the running counts of bins are R times the released columns (Cumulate). With a
// histogram R is the identity in contributions, and running counts are plain sums of the released columns.
//
// Cost: Quantise is O(size of a cell), and does not allocate. Distances is O(m²).
//
//	h := block.OneHot{Block: block.Block{Count: 1, Mean: 0.3}, Cells: 384, Weight: 1}
//	record := contribution.Contribution{Components: []contribution.Component{h.Component()}}
package block
