// Package elementary has e^x and logarithms for numbers that decide published bytes: they are the same on every CPU, of
// IEEE additions, products and quotients, each rounded on its own (the float64() around a product forbids fusing it
// with the addition next to it), and exact scaling by powers of two. math.Exp and math.Log have assembly on some CPUs
// and fused products on others. The polynomials are Taylor series, long enough that the remainder is below 2^-58 of the
// result; the error is below one ulp (TestElementary).
package elementary
