package names

import (
	"math"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise"
)

// laws returns laws of both kinds, with thresholds as calibrations choose them.
func laws(t testing.TB) map[string]*Law {
	t.Helper()
	all := map[string]*Law{"halves": halves{5}.law()}
	for name, c := range map[string]struct {
		s    noise.Scale
		most int64
	}{"laplace 1": {noise.Scale{Mant: 1}, 14}, "laplace 0.3": {noise.Scale{Mant: 10, Exp: 0}, 110}} {
		sampler, err := noise.NewTruncated(c.s, c.most)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = NewLaw(sampler.Tails(), c.most+1)
	}
	all["normal"] = NewLaw(noise.NormalTails(noise.Scale{Mant: 17, Exp: -2}), 24)
	return all
}

// TestIntervalsHaveTheirCoverage sums the law: among the releases y ≥ floor of a count, its interval must have the
// count with a probability of at least 1 − α. Intervals begin at 1 at least, and no interval can be shorter by one at
// an end.
func TestIntervalsHaveTheirCoverage(t *testing.T) {
	for title, law := range laws(t) {
		for _, floor := range []int64{law.Threshold, law.Threshold + 1, law.Threshold + 40} {
			for _, alpha := range []float64{0.05, 0.05 / 720} {
				least := 1.0
				for c := int64(1); c < floor+3*law.Max; c += 1 + int64(tiertest.Runs(3, 1))*(law.Max/40) {
					covered, all := 0.0, 0.0
					for y := floor; y <= c+law.Max; y++ {
						low, high := law.Interval(y, floor, alpha)
						p := law.above(y-c) - law.above(y+1-c)
						if all += p; low <= c && c <= high {
							covered += p
						}
						if low < 1 || high < low {
							t.Fatalf("%s: y = %d, floor = %d: [%d, %d]", title, y, floor, low, high)
						}
					}
					if law.above(floor-c) > 0x1p-40 {
						least = min(least, covered/all)
					}
				}
				if least < 1-alpha-1e-9 || law.Leak < alpha/4 && least > 1-alpha/10 {
					t.Errorf("%s, floor %d, α = %g: coverage %g", title, floor, alpha, least)
				}
			}
		}
	}
}

// TestIntervalIsTheInversion compares ends with a search of all counts.
func TestIntervalIsTheInversion(t *testing.T) {
	for title, law := range laws(t) {
		for _, floor := range []int64{law.Threshold, law.Threshold + 7} {
			for y := floor; y < floor+3*law.Max; y += 1 + law.Max/8 {
				low, high := law.Interval(y, floor, 0.05)
				first, last := int64(0), int64(0)
				for c := max(1, y-law.Max); c <= y+law.Max; c++ {
					all, above := law.above(floor-c), law.above(y-c)
					if above > all*0.025 && all-law.above(y+1-c) > all*0.025 {
						if first == 0 {
							first = c
						}
						last = c
					}
				}
				if low != first || high != last {
					t.Errorf("%s: y = %d, floor %d: [%d, %d], want [%d, %d]", title, y, floor, low, high, first, last)
				}
			}
		}
	}
	law := laws(t)["laplace 1"]
	if low, high := law.Interval(15, 15, 0.05); low != 1 || high > 18 { // the least y says almost nothing downwards
		t.Errorf("y = τ: [%d, %d]", low, high)
	}
	if low, high := law.Interval(100, 15, 0.05); low != 97 || high != 103 {
		t.Errorf("y = 100: [%d, %d]", low, high)
	}
}

// TestHiddenIsTheLargestHiddenCount compares c* with its definition.
func TestHiddenIsTheLargestHiddenCount(t *testing.T) {
	for title, law := range laws(t) {
		for _, floor := range []int64{law.Threshold, law.Threshold + 9} {
			for _, alpha := range []float64{0.05, 1e-4, 1 - 1e-9} {
				want := int64(0)
				for c := int64(1); c <= floor+law.Max; c++ {
					if law.above(c+1-floor) >= alpha { // P(c + n < floor), by symmetry
						want = c
					}
				}
				if got := law.Hidden(floor, alpha); got != want {
					t.Errorf("%s, floor %d, α = %g: %d, want %d", title, floor, alpha, got, want)
				}
			}
		}
	}
}

// TestFiguresOfALaw compares leak and deviation with sums.
func TestFiguresOfALaw(t *testing.T) {
	for title, law := range laws(t) {
		square := 0.0
		for n := -law.Max; n <= law.Max; n++ {
			square += float64(n*n) * (law.above(n) - law.above(n+1))
		}
		if math.Abs(law.Deviation-math.Sqrt(square)) > 1e-9*law.Deviation {
			t.Errorf("%s: deviation %g, want %g", title, law.Deviation, math.Sqrt(square))
		}
		if leak := law.above(law.Threshold - 1); law.Leak <= leak || law.Leak > leak*(1+1e-15) || law.Reaches(1) != leak {
			t.Errorf("%s: leak %g, want %g", title, law.Leak, leak)
		}
		if law.above(-law.Max) != 1 || law.above(law.Max+1) != 0 || math.Abs(law.above(1)+law.above(0)-1) > 1e-15 {
			t.Errorf("%s: tails %g, %g, %g, %g", title, law.above(-law.Max), law.above(0), law.above(1), law.above(law.Max+1))
		}
	}
}

// TestLonelyNamesPassAtTheRateOfQ closes steps of a million names of one person each. The number that passes must be
// within 5 standard errors of q: over 10⁷ names in the long form.
func TestLonelyNamesPassAtTheRateOfQ(t *testing.T) {
	const names = 1_000_000
	for _, most := range []int64{5, 14} {
		sampler, err := noise.NewTruncated(noise.Scale{Mant: 1}, most)
		if err != nil {
			t.Fatal(err)
		}
		sum, chain, passed := New(NewLaw(sampler.Tails(), most+1), sampler, 0), noise.NewChain([32]byte{byte(most)}), 0
		steps := tiertest.Runs(1, 10)
		for step := range steps {
			for i := range names {
				sum.Open().Add([]byte{byte(i), byte(i >> 8), byte(i >> 16)}, 1)
			}
			chain.Close(uint64(step + 1))
			sum.Add(nil, nil, chain)
			passed += len(sum.Listed())
		}
		want := sum.Law().Leak * float64(names*steps)
		if math.Abs(float64(passed)-want) > 5*math.Sqrt(want) {
			t.Errorf("M = %d: %d of %d names of one person passed, want %g", most, passed, names*steps, want)
		}
	}
}
