package experiment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"oriel/operators/elementary"
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
// coefficients of the draws after the first `announced`, and the matrix of the coefficients of those draws before.
func covariance(n *Noise, start, announced, looks int, w float64) (g *mat.SymDense, known *mat.Dense) {
	b := response(n, start+looks+1)
	block := func(step int) int { // index of the block of a step; steps count from 1
		if n.Period == 0 {
			return 0
		}
		return (step - 1) / int(n.Period)
	}
	g, known = mat.NewSymDense(looks, nil), mat.NewDense(looks, announced+1, nil)
	for i := range looks {
		for j := i; j < looks; j++ {
			l, later := start+i+1, start+j+1
			sum := 0.0
			if i == j {
				sum = w
			}
			for draw := 1; draw <= l; draw++ {
				if draw > announced && block(draw) == block(l) && block(l) == block(later) {
					sum += b[l-draw] * b[later-draw]
				}
			}
			g.SetSym(i, j, sum)
		}
		for draw := 1; draw <= announced; draw++ {
			if block(draw) == block(start+i+1) {
				known.Set(i, draw, b[start+i+1-draw])
			}
		}
	}
	return g, known
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

// starts are numbers of steps before an experiment and before its announcement.
var starts = [][2]int{{0, 0}, {1, 0}, {17, 0}, {17, 9}, {17, 16}, {40, 0}, {55, 0}, {55, 3}, {55, 41}, {58, 50}}

// TestBankIsThatOfCholesky compares innovations, A and B with the ones from a dense Cholesky factor. It covers
// experiments that begin with the stream or within a block, whose start was chosen after an announcement, and that last
// longer than a block. The variance of what the draws before the announcement add to B is compared, too, and so is what
// one value of the known part adds.
func TestBankIsThatOfCholesky(t *testing.T) {
	const looks, events = 90, 100
	rng := rand.New(rand.NewPCG(3, 1))
	for name, noise := range noises() {
		for _, start := range starts {
			for _, w := range []float64{1e-4, 0.01, 1, 300} {
				t.Run(fmt.Sprintf("%s/%v/%g", name, start, w), func(t *testing.T) {
					from := noise.origin(uint64(start[0]), uint64(start[1]))
					b := newBank(noise, []float64{w}, 3, events, &from, make([]float64, bankLen(1, len(noise.Poles), 3)))
					g, known := covariance(noise, start[0], start[1], looks, w)
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
					white := func(x mat.Vector) []float64 {
						var e mat.VecDense
						if err := e.SolveVec(&lower, x); err != nil {
							t.Fatal(err)
						}
						return e.RawVector().Data
					}
					e, h, one := white(y), white(z), white(ones)
					drifts := make([][]float64, start[1]+1) // of each draw before the announcement
					for draw := range drifts {
						drifts[draw] = white(known.ColView(draw))
					}
					c, moved := []float64{3, -2, 5, 1}[:len(noise.Poles)], make([]float64, len(drifts))
					left, reset := slices.Clone(c), false
					information, sum, other := 0.0, 0.0, 0.0
					for l := range looks {
						part := 0.0
						for k, r := range noise.Residues {
							if from.seen && !reset {
								part += r * left[k]
								left[k] *= noise.Poles[k]
							}
						}
						b.step([]float64{y.AtVec(l), z.AtVec(l), part})
						if steps := uint64(start[0] + l + 1); noise.Period > 0 && steps%noise.Period == 0 {
							b.reset()
							reset = true
						}
						information += one[l] * one[l]
						sum += one[l] * e[l]
						other += one[l] * h[l]
						square := 0.0
						for draw := range drifts {
							moved[draw] += one[l] * drifts[draw][l]
							square += moved[draw] * moved[draw]
						}
						scale := math.Sqrt(information)
						if math.Abs(b.informationOf(0)-information) > 1e-10*information ||
							math.Abs(b.sum(0, 0)-sum) > 1e-10*scale*math.Sqrt(float64(looks)) ||
							math.Abs(b.sum(0, 1)-other) > 1e-9*scale*math.Sqrt(float64(looks)) {
							t.Fatalf("look %d: A %.15g want %.15g, B %.15g want %.15g, %.15g want %.15g", l+1, b.informationOf(0),
								information, b.sum(0, 0), sum, b.sum(0, 1), other)
						}
						if got := b.driftSquare(0, &from.known); math.Abs(got-square) > 1e-9*square+1e-12*information {
							t.Fatalf("look %d: the known part adds the variance %.15g, want %.15g", l+1, got, square)
						}
						shift := 0.0
						s, _ := driftOf(b.filter(0), len(c))
						for k := range c {
							shift += s[k] * c[k]
						}
						if math.Abs(b.sum(0, 2)-shift) > 1e-8*scale {
							t.Fatalf("look %d: a known part adds %.15g, want %.15g", l+1, shift, b.sum(0, 2))
						}
					}
				})
			}
		}
	}
}

// TestTotalIsTheSumOfTheCovariance checks that the variance of a sum of increments is the sum of all entries of their
// covariance, and that so is the variance that the draws before the announcement add.
func TestTotalIsTheSumOfTheCovariance(t *testing.T) {
	const looks = 90
	for name, noise := range noises() {
		for _, start := range starts {
			total := newTotal(noise, uint64(start[0]), uint64(start[1]), make([]float64, totalLen(len(noise.Poles))))
			g, known := covariance(noise, start[0], start[1], looks, 0)
			draws := make([]float64, start[1]+1)
			for l := 1; l <= looks; l++ {
				want, shifted := 0.0, 0.0
				for i := range l {
					for j := range l {
						want += g.At(i, j)
					}
				}
				for draw := range draws {
					draws[draw] += known.At(l-1, draw)
					shifted += draws[draw] * draws[draw]
				}
				if got := total.step(uint64(l)); math.Abs(got-want) > 1e-10*want || math.Abs(total.state[shift]-shifted) > 1e-10 {
					t.Fatalf("%s, start %v, look %d: %.15g and %.15g, want %.15g and %.15g", name, start, l, got, total.state[shift],
						want, shifted)
				}
			}
		}
	}
}

func TestNormalLaw(t *testing.T) {
	for x := -30.0; x <= 8; x += 0.0625 {
		p := distuv.UnitNormal.CDF(x)
		if got := elementary.Normal(x); math.Abs(got-p) > 1e-12*p {
			t.Errorf("Φ(%g) = %g, want %g", x, got, p)
		}
		if want := math.Log(2*p) + x*x/2; math.Abs(elementary.LogMixture(x)-want) > 1e-10 {
			t.Errorf("logMixture(%g) = %g, want %g", x, elementary.LogMixture(x), want)
		}
	}
	for _, p := range []float64{1e-6, 0.2, 0.5, 0.8, 0.999} {
		if got, want := elementary.Quantile(p), distuv.UnitNormal.Quantile(p); math.Abs(got-want) > 1e-10 {
			t.Errorf("quantile of %g: %g, want %g", p, got, want)
		}
	}
}
