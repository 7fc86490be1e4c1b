package windowtree

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"oriel/mechanisms/noise"
)

// squaresOf returns µ²·s²/Δ² of Loss.Mu and Loss.MuAll in float64, without the rounding of shifts, computed directly
// from mechanisms/PROOF.md, Lemma 1 and Theorem 2.
func squaresOf(window, separation, windows uint64) (of, all float64) {
	w, k, m := float64(window), math.Ceil(float64(window)/float64(separation)), float64(windows)
	for size := uint64(1); size <= window; size *= 2 {
		of += k * math.Ceil(float64(size)/float64(separation))
	}
	if windows == 1 {
		return of, of
	}
	q := m * (m + 1) * (2*m + 1) / 6
	return of - k*k + m*k*k*(2-1/w), m*(of-k*k) + k*k*((2-1/w)*q+(1-1/w)*m*m)
}

func TestLossIsTheFormula(t *testing.T) {
	for _, window := range []uint64{1, 2, 16, 1024, 1 << 30} {
		for _, separation := range []uint64{1, 2, 3, 100, 1023, 1024, 1 << 20, 1 << 62} {
			l := Loss{Window: window, Separation: separation, Square: 1 << 50, N: 27, Scale: noise.Scale{Mant: 3, Exp: 20}}
			if l.Mu(0) != 0 || l.MuAll(0) != 0 {
				t.Errorf("%+v: µ at age 0", l)
			}
			for _, m := range []uint64{1, 2, 3, 10, 1000} {
				of, all := squaresOf(window, separation, m)
				f := func(name string, got, square float64) {
					t.Helper()
					rest := 0.0
					if m > 1 {
						rest = math.Sqrt(2 * 27 * float64(m*(window-1)))
					}
					if want := (math.Sqrt(square)*(1<<25) + rest) / (3 << 20); got < want*(1-1e-14) || got > want*(1+1e-14) {
						t.Errorf("W=%d s=%d: %s of %d windows = %g, want %g", window, separation, name, m, got, want)
					}
				}
				for _, age := range []uint64{m*window - window + 1, m * window} {
					f("µ", l.Mu(age), of)
					f("µ of all events", l.MuAll(age), all)
				}
			}
			if x, all := l.Mu(math.MaxUint64), l.MuAll(math.MaxUint64); math.IsInf(x, 0) || !(x > 0 && all >= x) {
				t.Errorf("%+v: µ(2^64 − 1) = %g, %g of all events", l, x, all)
			}
		}
	}
	// The result must be rounded up: 3/√8 is irrational, and its nearest float64 is below it.
	l := Loss{Window: 4, Separation: 4, Square: 1, N: 1, Scale: noise.Scale{Mant: 1}}
	if got := l.Mu(4); got*got < 3 || got > math.Nextafter(math.Sqrt(3), 2) {
		t.Errorf("√3 rounded up is %g", got)
	}
}

// places returns random steps at least s apart in from … to, such that the closest spacing also occurs.
func places(rng *rand.Rand, separation, from, to int) (out []int) {
	for p := from + rng.IntN(2)*rng.IntN(separation); p <= to; p += separation {
		out = append(out, p)
		switch rng.IntN(6) {
		case 0, 1:
			p += rng.IntN(3)
		case 2:
			p += rng.IntN(to - from + 2)
		}
	}
	return out
}

// count returns, for steps 1 … last, the number of events so far, which is the difference of the means of two
// neighbours' sums.
func count(places []int, last int) *mat.VecDense {
	d := mat.NewVecDense(last, nil)
	for _, p := range places {
		for now := p; now <= last; now++ {
			d.SetVec(now-1, d.AtVec(now-1)+1)
		}
	}
	return d
}

// TestExactUserLossIsWithinTheClaim compares mechanisms/PROOF.md, Lemma 1 and Theorem 2 with dense linear algebra. Only
// sums are released, so µ² is dᵀC⁻¹d in units of (Δ/s)², C_st = |active(s) ∩ active(t)|. The test tries windows at all
// positions of two blocks, including windows across their border. The loss must exceed a claim that accounts for one
// event less.
func TestExactUserLossIsWithinTheClaim(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	red := 0
	for _, window := range []int{1, 2, 4, 8, 16} {
		tree := newTree(t, uint64(window), 1, silence{})
		for m := 1; m <= 3; m++ {
			for i := 1; i <= window+1; i++ {
				last := i + m*window - 1
				var factor mat.Cholesky
				if !factor.Factorize(covariance(tree, last)) {
					t.Fatal("covariance is singular")
				}
				exact := func(places []int) float64 {
					d := count(places, last)
					var solved mat.VecDense
					if err := factor.SolveVecTo(&solved, d); err != nil {
						t.Fatal(err)
					}
					return mat.Dot(d, &solved)
				}
				for _, separation := range []int{1, 2, 3, 5, 7, 8, 9, 15, 16, 17} {
					of, all := squaresOf(uint64(window), uint64(separation), uint64(m))
					for range 8 {
						if got := exact(places(rng, separation, i, i+window-1)); got > of*(1+1e-9) {
							t.Fatalf("W=%d s=%d i=%d: µ² = %g after %d windows, claimed %g", window, separation, i, got, m, of)
						} else if k := float64(Events(uint64(window), uint64(separation))); k > 1 && m == 1 && got > of*(k-1)/k*(1+1e-9) {
							red++
						}
						if got := exact(places(rng, separation, i, last)); got > all*(1+1e-9) {
							t.Fatalf("W=%d s=%d i=%d: µ² of all events = %g after %d windows, claimed %g", window, separation, i, got, m,
								all)
						}
					}
				}
			}
		}
	}
	if red < 20 {
		t.Errorf("one event less in the account is caught %d times", red)
	}
}

// covariance returns C for steps 1 … last.
func covariance(tree *Tree, last int) *mat.SymDense {
	column := map[noise.NodeID]int{}
	incidence := mat.NewDense(last, 4*last, nil)
	for now := range last {
		suffix, prefix := tree.active(uint64(now + 1))
		for _, x := range append(suffix, prefix...) {
			if _, known := column[x]; !known {
				column[x] = len(column)
			}
			incidence.Set(now, column[x], 1)
		}
	}
	c := mat.NewSymDense(last, nil)
	c.SymOuterK(1, incidence)
	return c
}

// TestShiftsOfTheProof checks the shifts of the proof at windows too large for dense algebra: integers that cancel the
// difference of the sums at every step, with a norm within the claim. Within one window a node is shifted by its
// events. Over more windows, a node over steps first … last of a block is shifted as follows. A left child or root is
// shifted by its own events and its share of all events of earlier blocks. A right child is shifted by its share of all
// events of blocks up to its own.
func TestShiftsOfTheProof(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 400 {
		window, separation, m, delta := 1<<rng.IntN(9), 1+rng.IntN(40), 1+rng.IntN(4), []int{1, 3, 1000}[rng.IntN(3)]
		tree := newTree(t, uint64(window), 1, silence{})
		i := 1 + rng.IntN(2*window)
		last := i + m*window - 1
		l := Loss{
			Window: uint64(window), Separation: uint64(separation), Square: uint64(delta * delta), N: 1,
			Scale: noise.Scale{Mant: 1},
		}
		for _, c := range []struct {
			places []int
			claim  float64
		}{
			{places(rng, separation, i, i+window-1), l.Mu(uint64(m * window))},
			{places(rng, separation, i, last), l.MuAll(uint64(m * window))},
		} {
			difference := make([]int, last+1) // difference[t]: difference of the sums of step t
			for _, p := range c.places {
				size := delta
				if rng.IntN(3) == 0 {
					size = rng.IntN(2*delta+1) - delta
				}
				for now := p; now <= last; now++ {
					difference[now] += size
				}
			}
			at := func(step int) int { return difference[max(0, min(step, last))] }
			part := func(total, first, last int) int { // the share of total at positions first … last of a block
				down := func(p int) int { return int(math.Floor(float64(total*p) / float64(window))) }
				return down(last) - down(first-1)
			}
			shift := func(x noise.NodeID) int {
				start, size := int(x.Block)*window, 1<<x.Level
				first := int(x.Index)*size + 1
				own := at(start+first+size-1) - at(start+first-1)
				switch {
				case m == 1:
					return own
				case x.Index%2 == 1:
					return part(at(start+window), first, first+size-1)
				default:
					return own + part(at(start), first, first+size-1)
				}
			}
			seen, norm := map[noise.NodeID]bool{}, 0.0
			for now := 1; now <= last; now++ {
				suffix, prefix := tree.active(uint64(now))
				sum := 0
				for _, x := range append(suffix, prefix...) {
					y := shift(x)
					if sum += y; !seen[x] {
						seen[x], norm = true, norm+float64(y*y)
					}
				}
				if sum != difference[now] {
					t.Fatalf("W=%d i=%d m=%d: shifts are %d in step %d, the sums differ by %d", window, i, m, sum, now, difference[now])
				}
			}
			if math.Sqrt(norm) > c.claim*(1+1e-9) {
				t.Fatalf("W=%d s=%d i=%d m=%d Δ=%d: shifts have norm %g, claimed %g", window, separation, i, m, delta,
					math.Sqrt(norm), c.claim)
			}
		}
	}
}
