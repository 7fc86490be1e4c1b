// Package jacobi finds all eigenvalues and eigenvectors of a symmetric matrix by cyclic Jacobi rotations (Golub and Van
// Loan, "Matrix Computations", 4th edition, section 8.5), with the same bits on every CPU: each product is rounded, in
// a fixed order, roots and quotients are those of IEEE 754. Cost: some 25n³. It does not allocate.
//
//	e := jacobi.New(n)
//	e.Set(i, j, x) for i ≤ j, e.Run(), then e.Value(k), e.Vector(k)
package jacobi
