package interval_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/operators/aggregate/block"
	"oriel/operators/aggregate/interval"
)

// columns is how running counts are made of released columns, and the noise of these: normal in columns of R, or
// discrete Laplace with r = 1 in a histogram.
type columns struct {
	histogram bool
	z         float64
}

var (
	factors   = columns{false, interval.Z95}
	histogram = columns{true, interval.Laplace.Z95}
)

func (c columns) reading(m int) []float64 {
	return block.Block{Bins: m, Quantile: 1, Histogram: c.histogram}.Reading()
}

func (c columns) whole(m int) float64 { return math.Sqrt(block.Energy(c.reading(m))) }

// draw returns noise of deviation 1.
func (c columns) draw(rng *rand.Rand) float64 {
	if !c.histogram {
		return rng.NormFloat64()
	}
	return (math.Floor(rng.ExpFloat64()) - math.Floor(rng.ExpFloat64())) * math.Sqrt2 * math.Sinh(0.5)
}

// density is a density of values in [0, 1), not normalised.
type density struct {
	name string
	at   func(x float64) float64
}

func bell(x, middle, width float64) float64 {
	z := (x - middle) / width
	return math.Exp(-z * z / 2)
}

var densities = []density{
	{"flat", func(float64) float64 { return 1 }},
	{"delays", func(x float64) float64 {
		return min(1, max(0, (x-0.12)/0.13)) * math.Exp(-8*max(0, x-0.25))
	}},
	{"narrow", func(x float64) float64 { return bell(x, 0.4, 0.05) }},
	{"two", func(x float64) float64 { return bell(x, 0.2, 0.05) + bell(x, 0.8, 0.05) }},
	{"steps of five minutes", func(x float64) float64 {
		if int(400*x)%5 != 0 {
			return 0
		}
		return math.Exp(-8 * max(0, x-0.25))
	}},
}

// truth returns the running counts of m bins of a density, and its quantile of a level, in [−1, 1]: the least x such
// that a share level of all values is at most x.
func (d density) truth(m int, n, level float64) (counts []float64, want float64) {
	const fine = 120 // number of values in a bin
	all := make([]float64, m*fine)
	sum := 0.0
	for i := range all {
		sum += d.at((float64(i) + 0.5) / float64(len(all)))
		all[i] = sum
	}
	counts, want = make([]float64, m), math.NaN()
	for i, x := range all {
		counts[i/fine] = n * x / sum
		if math.IsNaN(want) && x >= level*sum {
			want = 2*(float64(i)+0.5)/float64(len(all)) - 1
		}
	}
	return counts, want
}

// shares is the number of releases over which a coverage is measured. slack is 6.11 standard errors of a coverage of
// 0.95: 0.021 for 4000 releases and 0.034 for 1500. A larger error occurs once in 10⁹.
var (
	shares = tiertest.Runs(1500, 4000)
	slack  = 6.11 * math.Sqrt(0.95*0.05/float64(shares))
)

// TestRanksCover checks that intervals longer than eight bins on average cover about as often as their level says, over
// densities with slopes, feet, gaps and teeth. Shorter intervals must cover more often.
func TestRanksCover(t *testing.T) {
	for i, m := range []int{16, 64, 128} {
		for _, c := range []columns{factors, histogram} {
			whole := c.whole(m) // noise deviation of the count of all events
			for j, d := range densities {
				for k, level := range []float64{0.5, 0.9} {
					numbers := []float64{13, 30, 100}
					one := (i + j + k) % len(numbers) // over the other rows and columns, the short form has each number
					for _, times := range tiertest.Runs(numbers[one:one+1], numbers) {
						counts, want := d.truth(m, times*whole, level)
						share, length := c.measure(m, counts, level, want)
						most := 1.0
						if length > 8 && !(d.name == "two" && level == 0.5) { // there the interval has hardly any event
							most = 0.97
						}
						if share < 0.94-slack || share > most+slack {
							t.Errorf("%d bins, %s, level %g, %g deviations, %+v: %.3f in %.1f bins, want 0.94 to %g", m, d.name, level, times,
								c, share, length, most)
						}
						t.Logf("%d bins, %s, level %g, %g deviations, %+v: %.3f in %.1f bins, want 0.94 to %g", m, d.name, level, times,
							c, share, length, most)
					}
				}
			}
		}
	}
}

// measure returns the share of all intervals that contain the wanted number, and their mean length in bins.
func (c columns) measure(m int, counts []float64, level, want float64) (share, length float64) {
	r := interval.NewRanks(c.reading(m), level)
	scratch, noisy, noise := make([]float64, r.Scratch()), make([]float64, m), make([]float64, m)
	rng := rand.New(rand.NewPCG(seed, 3))
	for range shares {
		c.release(rng, noisy, noise, counts)
		_, x := r.Quantile(noisy, 1, c.z, scratch)
		if has(x, want) {
			share += 1 / float64(shares)
		}
		length += (x.High - x.Low) * float64(m) / 2 / float64(shares)
	}
	return share, length
}

// release writes running counts with noise, where each column has noise of deviation 1.
func (c columns) release(rng *rand.Rand, noisy, noise, counts []float64) {
	for i := range noise {
		noise[i] = c.draw(rng)
	}
	block.Cumulate(noisy, noise, c.reading(len(noise)))
	for i, x := range counts {
		noisy[i] += x
	}
}

// TestRanksCoverGrids checks the worst case, in which all values are at the lower end of their bins. Intervals of whole
// bins still cover, because they contain whole bins. Intervals that are slightly longer cover least.
func TestRanksCoverGrids(t *testing.T) {
	const m = 24
	hours := density{"hours", func(x float64) float64 { // values on the full hour, all hours equally likely
		if math.Mod(m*x, 1) < 1.0/100 {
			return 1
		}
		return 0
	}}
	c := factors
	whole := c.whole(m)
	for _, times := range []float64{10, 15, 30, 60, 120} {
		for _, level := range []float64{0.501, 0.52, 0.5415} {
			counts, want := hours.truth(m, times*whole, level)
			share, length := c.measure(m, counts, level, want)
			least := 0.9
			if length < 2.5 {
				least = 0.95
			}
			t.Logf("%g deviations, level %g: %.3f in %.1f bins", times, level, share, length)
			if share < least-slack {
				t.Errorf("%g deviations, level %g: %.3f in %.1f bins, want %g", times, level, share, length, least)
			}
		}
	}
}

// TestRanksCoverTheEndsOfTheRange clamps a share of all values to an end of the range, so that the end is the quantile.
// At the lower end only the figure of edge 1 can exclude it, at the upper end only the figure of edge m−1: each is
// normal, and its mean has the right sign. An interval therefore contains the end in at least 97.5 % of all releases.
// The comparison is exact, because readers compare with the end itself.
func TestRanksCoverTheEndsOfTheRange(t *testing.T) {
	sure := 0.975 - 6.11*math.Sqrt(0.975*0.025/float64(shares))
	for _, c := range []columns{factors, histogram} {
		for _, m := range []int{1, 2, 3, 4, 5, 16, 24, 64} {
			noisy, noise, counts := make([]float64, m), make([]float64, m), make([]float64, m)
			for _, times := range []float64{4, 13, 100} {
				for _, clamped := range []float64{0.12, 0.3, 0.9} {
					for _, end := range []float64{-1, 1} {
						n, level := times*c.whole(m), 0.9*clamped // the quantile is among the clamped values
						first := clamped
						if end > 0 {
							first, level = 0, 1-level
						}
						for i := range counts { // the other values are spread evenly
							counts[i] = n * (first + (1-clamped)*float64(i+1)/float64(m))
						}
						counts[m-1] = n
						r := interval.NewRanks(c.reading(m), level)
						scratch, rng, hits := make([]float64, r.Scratch()), rand.New(rand.NewPCG(seed, 5)), 0
						for range shares {
							c.release(rng, noisy, noise, counts)
							if _, x := r.Quantile(noisy, 1, c.z, scratch); x.Low <= end && end <= x.High {
								hits++
							}
						}
						if share := float64(hits) / float64(shares); share < sure {
							t.Errorf("%d bins, %g deviations, %g of all at %g: %.3f, want %.3f", m, times, clamped, end, share, sure)
						}
					}
				}
			}
		}
	}
}

// TestEndsOfTheRangeAreExact checks that no rounding moves an end of the range: values of −1 and 1 are its ends.
func TestEndsOfTheRangeAreExact(t *testing.T) {
	for _, r := range [][2]float64{{0, 1000}, {0.1, 0.3}, {-60, 180}, {-1e12, 0.1}, {1e-9, 1.1e-9}, {-0.7, -0.1}} {
		low, high := interval.Value(-1, r[0], r[1]), interval.Value(1, r[0], r[1])
		if low != r[0] || high != r[1] || interval.Value(-1.5, r[0], r[1]) != r[0] || interval.Value(7, r[0], r[1]) != r[1] {
			t.Errorf("%v: %v to %v", r, low, high)
		}
		if middle, want := interval.Value(0, r[0], r[1]), (r[0]+r[1])/2; middle != want {
			t.Errorf("%v: middle %v, want %v", r, middle, want)
		}
	}
}

// obvious is a slow reference for Quantile. It sums every figure term by term, and computes its deviation from the
// weight of each column in the figure.
func obvious(factor, counts []float64, level, sigma float64) (estimate, low, high float64) {
	m := len(counts)
	figure := func(counts []float64, w, j int) float64 {
		a := max(0, min(w, j-1, m-1-j))
		sum := 0.0
		for i := max(j-a, 1); i <= j+a; i++ {
			sum += counts[i-1]
		}
		return sum/float64(2*a+1) - level*counts[m-1]
	}
	deviation := func(w, j int) float64 {
		square, one := 0.0, make([]float64, m)
		for k := range m {
			for i := range one {
				one[i] = 0
				if i >= k {
					one[i] = factor[i-k]
				}
			}
			square += math.Pow(figure(one, w, j), 2)
		}
		return sigma * interval.Z95 * math.Sqrt(square)
	}
	zero := func(x0, x1 float64) float64 { return -x0 / (x1 - x0) }
	ends := func(w int) (low, first, last, high float64) {
		low, first, last, high = 0, float64(m)/2, float64(m)/2, float64(m)
		for j := m; j > 0; j-- { // a descending loop keeps the smallest place
			g, h := figure(counts, w, j-1), figure(counts, w, j)
			if x, y := g+deviation(w, j-1), h+deviation(w, j); x < 0 && y >= 0 {
				low = float64(j-1) + zero(x, y)
			}
			if g <= 0 && h > 0 {
				first = float64(j-1) + zero(g, h)
			}
		}
		for j := range m {
			g, h := figure(counts, w, j), figure(counts, w, j+1)
			if x, y := g-deviation(w, j), h-deviation(w, j+1); x <= 0 && y > 0 {
				high = float64(j) + zero(x, y)
			}
			if g <= 0 && h > 0 {
				last = float64(j) + zero(g, h)
			}
		}
		if figure(counts, w, 0)+deviation(w, 0) >= 0 {
			low = 0
		}
		if figure(counts, w, m)-deviation(w, m) <= 0 {
			high = float64(m)
		}
		return low, first, last, high
	}
	width := func(length float64) (w int) {
		for _, x := range []int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32} {
			if x <= m/4 && float64(x) <= 0.4*length {
				w = x
			}
		}
		return w
	}
	low, first, last, high := ends(0)
	for range 2 {
		left, right := width(first-low), width(high-last)
		_, first, last, _ = ends(min(left, right))
		low, _, _, _ = ends(left)
		_, _, _, high = ends(right)
		low, high = min(low, first), max(high, last)
	}
	if high-low < 4 {
		low, high = math.Floor(low), math.Ceil(high)
	}
	if low < 1 {
		low = 0
	}
	if high > float64(m-1) {
		high = float64(m)
	}
	at := func(x float64) float64 { return 2*x/float64(m) - 1 }
	return at((first + last) / 2), at(low), at(high)
}

func TestRanksAreTheObvious(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed, 4))
	for _, m := range []int{1, 2, 5, 24, 40} {
		f := factors.reading(m)
		counts, noisy, noise := make([]float64, m), make([]float64, m), make([]float64, m)
		for range 60 {
			sum, size := 0.0, math.Exp(6*rng.Float64()-2)
			for i := range counts {
				sum += size * rng.ExpFloat64() * float64(rng.IntN(2))
				counts[i] = sum
			}
			factors.release(rng, noisy, noise, counts)
			level := 0.01 + 0.98*rng.Float64()
			r := interval.NewRanks(f, level)
			got, x := r.Quantile(noisy, 1, interval.Z95, make([]float64, r.Scratch()))
			want, low, high := obvious(f, noisy, level, 1)
			if math.Abs(got-want)+math.Abs(x.Low-low)+math.Abs(x.High-high) > 1e-9 {
				t.Fatalf("%d bins, level %g: %g in %v, want %g in [%g, %g]", m, level, got, x, want, low, high)
			}
			if !(-1 <= x.Low && x.Low <= got && got <= x.High && x.High <= 1) {
				t.Fatalf("%d bins, level %g: %g is not in %v", m, level, got, x)
			}
		}
	}
}

// TestRanksWithoutNoise checks that without noise the estimate is where counts reach the share. If the count of all
// events is 0, the interval must be the complete range.
func TestRanksWithoutNoise(t *testing.T) {
	r := interval.NewRanks(factors.reading(4), 0.1)
	scratch := make([]float64, r.Scratch())
	if got, x := r.Quantile([]float64{25, 50, 75, 100}, 0, interval.Z95, scratch); math.Abs(got+0.8) > 1e-12 ||
		x != (interval.Interval{Low: -1, High: -0.5}) {
		t.Errorf("%g in %v", got, x)
	}
	for _, counts := range [][]float64{{0, 0, 0, 0}, {3, -1, 0, -5}, {0, 1, 0, 2}} {
		if _, x := r.Quantile(counts, 5, interval.Z95, scratch); x != (interval.Interval{Low: -1, High: 1}) {
			t.Errorf("%v: %v", counts, x)
		}
	}
}

func BenchmarkRanks(b *testing.B) {
	const m = 64
	counts, _ := densities[1].truth(m, 1000, 0.5)
	r := interval.NewRanks(factors.reading(m), 0.5)
	scratch := make([]float64, r.Scratch())
	b.ReportAllocs()
	for b.Loop() {
		r.Quantile(counts, 10, interval.Z95, scratch)
	}
}
