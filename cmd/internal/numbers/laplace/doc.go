// Package laplace gives intervals of sums of independent Laplace draws, discrete and continuous ones, at 95 %, and of
// counts, sums and ratios over several steps of once-laplace.
//
//	Draws   n draws of a deviation d: multiples u·N of a unit u, where N has the discrete Laplace law P(N = j) ∝ e^(−r|j|)
//	        with d = 1/(√2·sinh(r/2)), or continuous draws of density ∝ e^(−√2|x|/d)
//	φ       the characteristic function of the sum, Π(1 + x²)^(−n) with x = √2·d·sin(u·θ/2) or x = d·θ/√2; φ > 0
//	M       the period of the wrapped sum
//
// A sum of discrete draws is a difference of two negative binomial variables. Its law is computed from φ, in the same
// time for any n. The sum wrapped at period M has the Fourier coefficients φ(θ_k), θ_k = 2πk/M, so that for a window
// [−b, a]
//
//	P(S wrapped in [−b, a]) = (1/M)·Σ_k φ(θ_k)·K(θ_k),  K(θ) = (sin(a+h)θ + sin(b+h)θ)/D
//
// with h = ½, D = 2·sin(θ/2) for whole numbers, and h = 0, D = θ for continuous sums. That is exact but for three
// errors, each of which is bounded and taken off the probability, so that intervals cover at least 95 %:
//
//	wrapping    P(|S| ≥ M − a) ≤ 10⁻¹² by Chernoff's bound with the moment generating function Π(1 − x²)^(−n)
//	truncation  of whole numbers at most φ(θ_K)·ln M for the terms behind the K-th, because φ falls up to π and D ≥ 2θ/π; of
//	            continuous sums at most 2ψ/πγ, ψ the part of φ(θ_K) of the continuous draws, γ = Σ 2n·x²/(1 + x²) over them,
//	            because ψ falls at least as fast as θ^(−γ) from there on
//	rounding    10⁻⁹: term k is at most 4φ/πk, its sines are right to πk·2⁻⁵¹, and 2¹⁵ terms are off by less than 2⁻³³
//
// If the bounds leave no window, the interval is that of Chernoff's bound alone.
package laplace
