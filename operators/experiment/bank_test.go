package experiment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// response returns the coefficients of n_l, n_{l−1}, … in the noise of an increment.
func response(n *Noise, length int) []float64 {
	b := make([]float64, length)
	b[0] = 1
	for k, r := range n.Residues {
		for j := 1; j < length; j++ {
			b[j] += r * math.Pow(n.Poles[k], float64(j-1))
		}
	}
	return b
}

// covariance returns the covariance of the increments at looks start+1 … start+looks of a stream, computed from the
// coefficients of all draws since the stream began.
func covariance(n *Noise, start, looks int, w float64) *mat.SymDense {
	b := response(n, start+looks+1)
	block := func(step int) int { // index of the block of a step; steps count from 1
		if n.Period == 0 {
			return 0
		}
		return (step - 1) / int(n.Period)
	}
	g := mat.NewSymDense(looks, nil)
	for i := range looks {
		for j := i; j < looks; j++ {
			l, later := start+i+1, start+j+1
			sum := 0.0
			if i == j {
				sum = w
			}
			for draw := 1; draw <= l; draw++ {
				if block(draw) == block(l) && block(l) == block(later) {
					sum += b[l-draw] * b[later-draw]
				}
			}
			g.SetSym(i, j, sum)
		}
	}
	return g
}

// noises returns laws of increments: of a decaying sum with resets, and of prefix sums, which have a pole at zero.
func noises() map[string]*Noise {
	return map[string]*Noise{
		"decay, with resets": {Poles: []float64{0.999, 0.95, 0.6}, Residues: []float64{-0.0004, -0.012, -0.21}, Period: 40},
		"white":              {},
		"prefix sums":        prefixes([]float64{0.9995, 0.97, 0.7}, []float64{0.02, 0.1, 0.25}),
	}
}

// prefixes returns the law of the increments of releases with noise b_0 = 1, b_j = Σ R_k·q_k^{j−1}.
func prefixes(poles, residues []float64) *Noise {
	n := &Noise{Poles: []float64{0}, Residues: []float64{-1}}
	for k, q := range poles {
		n.Poles, n.Residues = append(n.Poles, q), append(n.Residues, -residues[k]*(1-q)/q)
		n.Residues[0] += residues[k] / q
	}
	return n
}

// TestBankIsThatOfCholesky compares innovations, A and B with the ones from a dense Cholesky factor. It covers
// experiments that begin with the stream or within a block, and that last longer than a block.
func TestBankIsThatOfCholesky(t *testing.T) {
	const looks, events = 90, 100
	rng := rand.New(rand.NewPCG(3, 1))
	for name, noise := range noises() {
		for _, start := range []int{0, 1, 17, 40, 55} {
			for _, w := range []float64{1e-4, 0.01, 1, 300} {
				t.Run(fmt.Sprintf("%s/%d/%g", name, start, w), func(t *testing.T) {
					b := newBank(noise, []float64{w}, 2, events, uint64(start), make([]float64, bankLen(1, len(noise.Poles), 2)))
					g := covariance(noise, start, looks, w)
					var factor mat.Cholesky
					if !factor.Factorize(g) {
						t.Fatal("no factor")
					}
					y := mat.NewVecDense(looks, nil)
					z := mat.NewVecDense(looks, nil)
					ones := mat.NewVecDense(looks, nil)
					for l := range looks {
						y.SetVec(l, rng.NormFloat64())
						z.SetVec(l, rng.NormFloat64()*10)
						ones.SetVec(l, events)
					}
					var lower mat.TriDense
					factor.LTo(&lower)
					white := func(x *mat.VecDense) []float64 {
						var e mat.VecDense
						if err := e.SolveVec(&lower, x); err != nil {
							t.Fatal(err)
						}
						return e.RawVector().Data
					}
					e, h, one := white(y), white(z), white(ones)
					information, sum, other := 0.0, 0.0, 0.0
					for l := range looks {
						b.step([]float64{y.AtVec(l), z.AtVec(l)})
						if steps := uint64(start + l + 1); noise.Period > 0 && steps%noise.Period == 0 {
							b.block(0)
						}
						information += one[l] * one[l]
						sum += one[l] * e[l]
						other += one[l] * h[l]
						scale := math.Sqrt(information)
						if math.Abs(b.informationOf(0)-information) > 1e-10*information ||
							math.Abs(b.sum(0, 0)-sum) > 1e-10*scale*math.Sqrt(float64(looks)) ||
							math.Abs(b.sum(0, 1)-other) > 1e-9*scale*math.Sqrt(float64(looks)) {
							t.Fatalf("look %d: A %.15g want %.15g, B %.15g want %.15g, %.15g want %.15g", l+1, b.informationOf(0),
								information, b.sum(0, 0), sum, b.sum(0, 1), other)
						}
					}
				})
			}
		}
	}
}

// TestTotalIsTheSumOfTheCovariance checks that the variance of a sum of increments is the sum of all entries of their
// covariance.
func TestTotalIsTheSumOfTheCovariance(t *testing.T) {
	const looks = 90
	for name, noise := range noises() {
		for _, start := range []int{0, 17, 40, 55} {
			total := newTotal(noise, uint64(start), make([]float64, totalLen(len(noise.Poles))))
			g := covariance(noise, start, looks, 0)
			for l := 1; l <= looks; l++ {
				want := 0.0
				for i := range l {
					for j := range l {
						want += g.At(i, j)
					}
				}
				if got := total.step(uint64(l)); math.Abs(got-want) > 1e-10*want {
					t.Fatalf("%s, start %d, look %d: %.15g, want %.15g", name, start, l, got, want)
				}
			}
		}
	}
}

func TestNormalLaw(t *testing.T) {
	for x := -30.0; x <= 8; x += 0.0625 {
		p := distuv.UnitNormal.CDF(x)
		if got := normal(x); math.Abs(got-p) > 1e-12*p {
			t.Errorf("Φ(%g) = %g, want %g", x, got, p)
		}
		if want := math.Log(2*p) + x*x/2; math.Abs(logMixture(x)-want) > 1e-10 {
			t.Errorf("logMixture(%g) = %g, want %g", x, logMixture(x), want)
		}
	}
	for _, p := range []float64{1e-6, 0.2, 0.5, 0.8, 0.999} {
		if got, want := quantile(p), distuv.UnitNormal.Quantile(p); math.Abs(got-want) > 1e-10 {
			t.Errorf("quantile of %g: %g, want %g", p, got, want)
		}
	}
}
