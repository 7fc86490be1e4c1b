package residual

import (
	"math"
	"slices"
)

// Battery accumulates statistics over runs.
type Battery struct {
	noise *Noise
	runs  uint64

	total      Run         // statistics summed over runs
	lags       []int       // lags tested, in steps
	spacings   []int       // lags tested, in coordinates
	bySteps    []agreement // results by step lag
	byDistance []agreement
	byRuns     agreement
	before     *Run
	louder     [quarters]uint64 // by quarter: runs whose later releases have larger squares than the reference model's
	repeats    repeatTest
}

// agreement counts pairs of draws, and how many of them differ in sign or in size (above or below the median). For
// correct noise, signs and sizes are fair coins.
type agreement struct{ pairs, signs, sizes uint64 }

// nearSteps and nearCoordinates are the distances up to which all distances are compared.
const nearSteps, nearCoordinates = 64, 64

// NewBattery returns a battery without runs.
func NewBattery(x *Noise) *Battery {
	compared := min(x.n, maxCompared)
	b := &Battery{noise: x}
	w := int(min(x.config.Scope.Span(), math.MaxInt32))
	b.lags = distances(x.perStep, nearSteps, w-1, w, w+1)
	b.spacings = distances(compared, nearCoordinates, append(x.starts(), compared/2)...)
	b.bySteps, b.byDistance = make([]agreement, len(b.lags)), make([]agreement, len(b.spacings))
	b.total = *x.newRun()
	return b
}

// Add adds the next run. Equal runs in equal order give equal results.
func (b *Battery) Add(r *Run) {
	t := &b.total
	t.draws += r.draws
	plus(t.sum, r.sum)
	plus(t.square, r.square)
	plus(t.sumAt, r.sumAt)
	plus(t.squareAt, r.squareAt)
	for i, count := range r.cells {
		t.cells[i] += count
	}
	t.tails.Merge(r.tails)
	t.along += r.along
	t.contributions += r.contributions
	plus(t.alongAt, r.alongAt)
	plus(t.weightAt, r.weightAt)
	for i, lag := range b.lags {
		for k := range r.signs.of {
			b.bySteps[i].add(r, r, k, k, lag)
		}
	}
	for i, spacing := range b.spacings {
		for k := spacing; k < len(r.signs.of); k++ {
			b.byDistance[i].add(r, r, k, k-spacing, 0)
		}
	}
	if b.before != nil {
		for k := range r.signs.of {
			b.byRuns.add(r, b.before, k, k, 0)
		}
	}
	for i := range r.later {
		if r.later[i] > r.laterOfRef[i] {
			b.louder[i]++
		}
	}
	b.repeats.add(r.kept)
	b.before = r
	b.runs++
}

// add compares coordinate i of x, lag steps later, with coordinate j of y.
func (a *agreement) add(x, y *Run, i, j, lag int) {
	a.pairs += uint64(x.signs.steps - lag)
	a.signs += x.signs.differ(x.signs.of[i], y.signs.of[j], lag)
	a.sizes += x.sizes.differ(x.sizes.of[i], y.sizes.of[j], lag)
}

func plus(dst, x []float64) {
	for i, v := range x {
		dst[i] += v
	}
}

// Runs returns the number of added runs.
func (b *Battery) Runs() uint64 { return b.runs }

// distances returns the distances to compare between n positions: all distances up to near, powers of two with their
// neighbours, and the distances in more.
func distances(n, near int, more ...int) []int {
	var out []int
	for d := 1; d <= near; d++ {
		out = append(out, d)
	}
	for d := 1; d < n; d *= 2 {
		out = append(out, d-1, d, d+1)
	}
	out = append(out, more...)
	out = slices.DeleteFunc(out, func(d int) bool { return d < 1 || d >= n })
	slices.Sort(out)
	return slices.Compact(out)
}
