package residual

import (
	"fmt"
	"math"
)

// Test is the result of one test.
type Test struct {
	Name   string  `json:"test"`
	Looked string  `json:"looked_at"`
	Count  uint64  `json:"count"` // number of draws or pairs that the test used
	P      float64 `json:"p"`     // upper bound of the p-value
	Worst  string  `json:"worst"` // the step, coordinate or lag that deviates most
}

// finder keeps the smallest p-value over several places. Each place could raise a false alarm.
type finder struct {
	out    Test
	places float64
}

func newFinder(name, looked string, count uint64) *finder {
	return &finder{out: Test{Name: name, Looked: looked, Count: count, P: 2}}
}

// look adds the p-value of one place.
func (f *finder) look(p float64, format string, args ...any) {
	f.places++
	if !(p >= f.out.P) {
		f.out.P, f.out.Worst = p, fmt.Sprintf(format, args...)
	}
}

// test returns the smallest p-value times the number of places (Bonferroni).
func (f *finder) test() Test {
	t := f.out
	t.P = min(1, t.P*max(1, f.places))
	return t
}

// Normals tests whether any of several independent standard normals, or their sum, is too large.
func Normals(name, looked, place string, z []float64) Test {
	f := newFinder(name, looked, uint64(len(z)))
	sum := 0.0
	for i, v := range z {
		sum += v
		f.look(normalTail(v), "%s %d: %.3g standard deviations off", place, i+1, v)
	}
	sum /= math.Sqrt(float64(len(z)))
	f.look(normalTail(sum), "the sum: %.3g standard deviations off", sum)
	return f.test()
}

// Tests returns the results for the runs so far.
func (b *Battery) Tests() []Test {
	out := []Test{b.mean(), b.scale(), b.law(), b.total.tails.Test("tails"), b.contributions()}
	if len(b.lags) > 0 {
		out = append(out, b.steps())
	}
	if len(b.spacings) > 0 {
		out = append(out, b.coordinates())
	}
	runs := newFinder("runs", "signs and sizes of the same draw in two runs", 0)
	runs.fair(b.byRuns, "one run apart")
	out = append(out, runs.test(), b.repeats.test(b.noise.tolerance()))
	if b.noise.perStep < b.noise.steps {
		out = append(out, b.later())
	}
	return out
}

// tolerance bounds the difference of equal draws after rounding: some lattice units, in noise scales.
func (x *Noise) tolerance() float64 { return 16 / x.least }

func (b *Battery) mean() Test {
	f := newFinder("mean", "sums of draws, by step and coordinate", b.total.draws)
	b.each(b.total.sum, b.total.sumAt, func(sum float64, n uint64, what string, at int) {
		z := sum / math.Sqrt(float64(n))
		f.look(normalTail(z), "%s %d: %.2f standard errors off", what, at, z)
	})
	return f.test()
}

func (b *Battery) scale() Test {
	f := newFinder("scale", "sums of squares, by step and coordinate", b.total.draws)
	total := 0.0
	b.each(b.total.square, b.total.squareAt, func(sum float64, n uint64, what string, at int) {
		f.look(squaresTail(sum, n), "%s %d: %.5g of the calibration's scale", what, at, math.Sqrt(sum/float64(n)))
		if what == "step" {
			total += sum
		}
	})
	f.look(squaresTail(total, b.total.draws), "%.6g of the calibration's scale", math.Sqrt(total/float64(b.total.draws)))
	return f.test()
}

// each calls do for each step and each coordinate, with its sum and number of draws.
func (b *Battery) each(bySteps, byCoordinate []float64, do func(sum float64, n uint64, what string, at int)) {
	for t, sum := range bySteps {
		do(sum, b.runs*uint64(b.noise.n), "step", t+1)
	}
	for i, sum := range byCoordinate {
		do(sum, b.runs*uint64(b.noise.perStep), "coordinate", i+1)
	}
}

func (b *Battery) law() Test {
	f := newFinder("law", fmt.Sprintf("counts in %d cells from %g to %g", cells, -edge, edge), b.total.draws)
	const width = 2 * edge / cells
	for i, count := range b.total.cells {
		low := -edge + float64(i)*width
		p := (math.Erfc(low/math.Sqrt2) - math.Erfc((low+width)/math.Sqrt2)) / 2
		f.look(binomialTail(count, b.total.draws, p), "%d between %g and %g, %.6g expected", count, low, low+width,
			p*float64(b.total.draws))
	}
	return f.test()
}

func (b *Battery) contributions() Test {
	f := newFinder("contributions", "draws along known contributions, and at each of their coordinates", b.total.contributions)
	look := func(sum, squares float64, what string, args ...any) {
		if squares > 0 {
			z := sum / math.Sqrt(squares)
			f.look(normalTail(z), what+": %.2f standard errors off", append(args, z)...)
		}
	}
	look(b.total.along, float64(b.total.contributions), "along the contributions")
	for i, sum := range b.total.alongAt {
		look(sum, b.total.weightAt[i], "at coordinate %d", i+1)
	}
	return f.test()
}

func (b *Battery) steps() Test {
	f := newFinder("steps", fmt.Sprintf("signs and sizes of draws at one coordinate, %d distances in time", len(b.lags)),
		0)
	for i, lag := range b.lags {
		f.fair(b.bySteps[i], "%d steps apart", lag)
	}
	return f.test()
}

func (b *Battery) coordinates() Test {
	f := newFinder("coordinates", fmt.Sprintf("signs and sizes of draws of one step, %d distances", len(b.spacings)), 0)
	for i, spacing := range b.spacings {
		f.fair(b.byDistance[i], "%d coordinates apart", spacing)
	}
	return f.test()
}

// fair tests whether signs and sizes are fair coins.
func (f *finder) fair(a agreement, where string, args ...any) {
	f.out.Count += a.pairs
	look := func(what string, differ uint64) {
		share := 1 - float64(differ)/float64(max(1, a.pairs))
		f.look(binomialTail(differ, a.pairs, 0.5), where+": %s agree in %.5f of %d", append(args, what, share, a.pairs)...)
	}
	look("signs", a.signs)
	look("sizes", a.sizes)
}

func (b *Battery) later() Test {
	f := newFinder("later blocks", "squares of later releases compared with a reference model's", b.runs)
	for i, louder := range b.louder {
		f.look(binomialTail(louder, b.runs, 0.5), "quarter %d: larger than the reference model's in %d of %d runs", i+1, louder, b.runs)
	}
	return f.test()
}
