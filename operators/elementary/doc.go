// Package elementary has e^x, logarithms, the normal distribution and eigenvectors for numbers that decide published
// bytes. They are equal on every CPU. They use IEEE additions, products, quotients and roots in a fixed order, each
// rounded separately, and exact scaling by powers of two. The float64() around a product forbids fusing it with the
// addition next to it.
//
// math.Exp and math.Log have assembly on some CPUs and fused products on others. The polynomials are Taylor series,
// long enough that the remainder is below 2^-58 of the result; the error is below one ulp (TestElementary).
package elementary
