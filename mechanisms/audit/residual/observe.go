package residual

import (
	"math"
	"math/bits"
	"slices"
)

// maxCompared is the number of coordinates that are compared with one another: half of them from the front, half from
// the end.
const maxCompared = 1024

// Cells of the histogram of the law: each is 1/4 wide, from −edge to edge.
const (
	cells = 32
	edge  = 4.0
)

// levels are the thresholds of the tail tests. They are slightly above the round numbers at which draws might be
// clamped, so that rounding does not lift a clamped draw above its level.
var levels = [...]float64{3.501, 4.001, 4.501, 5.001, 5.501, 6.001, 6.501, 7.001}

// median is the median of |Z| for a standard normal Z.
const median = 0.67448975019608171

// Run is the part of a run that a battery keeps.
type Run struct {
	draws             uint64
	sum, square       []float64 // Σz and Σz² by step
	sumAt, squareAt   []float64 // Σz and Σz² by coordinate
	cells             [cells]uint64
	tails             Tails
	signs, sizes      signTest
	along             float64 // Σ of z projected on the contributions
	contributions     uint64
	alongAt           []float64   // by coordinate: Σ of z·w, w the contribution there over its component's length
	weightAt          []float64   // Σw²
	kept              [][]float64 // z of the first steps, which the search for repeats compares
	later, laterOfRef [quarters]float64
}

// quarters is the number of groups of the releases after the single draws. Each group's sum of squares is compared with
// the reference model's.
const quarters = 4

// Observer takes the releases of one run after another. It belongs to one goroutine, but a Noise may have many
// observers.
type Observer struct {
	noise     *Noise
	rebuild   *Rebuilder
	reference *simulated // for pure noise of later tree blocks: a simulated reference model; otherwise nil
	z         []float64
	compared  []int // the coordinates that the reference model is compared on
	run       *Run
	number    uint64 // of the run
}

// Observe returns an observer before its first run, number 0.
func (x *Noise) Observe() *Observer {
	o := &Observer{noise: x, rebuild: x.Rebuilder(), z: make([]float64, x.n)}
	for i := range x.n {
		if x.n <= maxCompared || i < maxCompared/2 || i >= x.n-maxCompared/2 {
			o.compared = append(o.compared, i)
		}
	}
	if x.perStep < x.steps {
		o.reference = newSimulated(x)
	}
	o.Start(0)
	return o
}

// Start begins a run. Its number seeds the draws of the reference model, and what z of discrete noise needs besides.
func (o *Observer) Start(number uint64) {
	o.number = number
	o.rebuild.Start(number)
	o.run = o.noise.newRun()
	o.run.signs, o.run.sizes = newSignTest(len(o.compared), o.noise.perStep), newSignTest(len(o.compared), o.noise.perStep)
}

// newRun returns the statistics of no draws.
func (x *Noise) newRun() *Run {
	at := func(n int) []float64 { return make([]float64, n) }
	return &Run{
		sum: at(x.perStep), square: at(x.perStep), sumAt: at(x.n), squareAt: at(x.n), alongAt: at(x.n), weightAt: at(x.n),
	}
}

// Release takes the next release of the run and the sum of its step's contributions, in loss units.
func (o *Observer) Release(release, contribution []float64) {
	x, r, t := o.noise, o.run, o.rebuild.step
	o.rebuild.Next(o.z, release, contribution)
	if t >= x.perStep {
		r.later[x.quarter(t)] += squares(o.z)
		return
	}
	r.draws += uint64(x.n)
	for i, z := range o.z {
		r.sum[t] += z
		r.square[t] += z * z
		r.sumAt[i] += z
		r.squareAt[i] += z * z
		if c := math.Floor((z + edge) * cells / (2 * edge)); c >= 0 && c < cells {
			r.cells[int(c)]++
		}
	}
	r.tails.Add(o.z)
	for k, i := range o.compared {
		if o.z[i] > 0 {
			r.signs.set(k, t)
		}
		if math.Abs(o.z[i]) > median {
			r.sizes.set(k, t)
		}
	}
	if t < keptSteps(x.n) {
		r.kept = append(r.kept, slices.Clone(o.z[:min(x.n, keptCoordinates)]))
	}
	o.contribution(contribution)
}

// contribution adds z along the step's contribution, and at each of its coordinates. Because the contribution is known
// before the step's noise, z along it is standard normal however it was chosen. At a coordinate z·w is normal with
// variance w².
func (o *Observer) contribution(contribution []float64) {
	x, sum, length := o.noise, 0.0, 0.0
	for _, component := range x.components {
		own := 0.0
		for i := component.From; i < component.To; i++ {
			v := contribution[i] / x.scales[i]
			own += v * v
			sum += o.z[i] * v
		}
		if own == 0 {
			continue
		}
		length += own
		for i := component.From; i < component.To; i++ {
			v := contribution[i] / x.scales[i]
			o.run.alongAt[i] += o.z[i] * v / math.Sqrt(own)
			o.run.weightAt[i] += v * v / own
		}
	}
	if length > 0 {
		o.run.along += sum / math.Sqrt(length)
		o.run.contributions++
	}
}

// Result returns the finished run. Start begins the next one.
func (o *Observer) Result() *Run {
	if o.reference != nil {
		o.run.laterOfRef = o.reference.play(o.number)
	}
	return o.run
}

// quarter returns which quarter of the later releases holds release t, counted from 0.
func (x *Noise) quarter(t int) int { return (t - x.perStep) * quarters / (x.steps - x.perStep) }

func squares(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return sum
}

// signTest holds the fair coins of a run: one bit for each coordinate and step. The signs of independent normals are
// fair coins, and so are the answers whether their sizes exceed the median. Whether two coins agree is again a fair
// coin. All pairs at one distance are independent, because each pair brings a coin that no earlier pair had.
type signTest struct {
	words int
	steps int
	of    [][]uint64 // bits of the draws, by coordinate
}

func newSignTest(coordinates, steps int) signTest {
	f := signTest{words: (steps + 63) / 64, steps: steps, of: make([][]uint64, coordinates)}
	all := make([]uint64, coordinates*f.words)
	for i := range f.of {
		f.of[i] = all[i*f.words : (i+1)*f.words]
	}
	return f
}

func (f signTest) set(coordinate, step int) { f.of[coordinate][step/64] |= 1 << (step % 64) }

// differ counts the steps t at which x_{t+lag} and y_t differ.
func (f signTest) differ(x, y []uint64, lag int) (count uint64) {
	words, shift := lag/64, uint(lag%64)
	for w := words; w < f.words; w++ {
		later := x[w] >> shift
		if shift > 0 && w+1 < f.words {
			later |= x[w+1] << (64 - shift)
		}
		different := later ^ y[w-words]
		if left := f.steps - lag - 64*(w-words); left < 64 {
			if left <= 0 {
				break
			}
			different &= 1<<left - 1
		}
		count += uint64(bits.OnesCount64(different))
	}
	return count
}
