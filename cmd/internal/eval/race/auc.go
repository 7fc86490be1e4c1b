package race

import "math"

// Predictions are sorted into bins by sign, by octave of [2^-14, 2^18), and by 1/512 of the octave. Smaller predictions
// share a bin with 0, and larger ones are in the last bin. So two predictions in one bin differ by at most 0.2 %, or
// are both within 2^-14 of 0.
const (
	leastOctave = -14
	octaves     = 32
	parts       = 512
	side        = octaves * parts
	binCount    = 2*side + 1
)

// binOf returns the bin of x; it is monotone in x.
func binOf(x float64) int {
	fraction, exponent := math.Frexp(min(math.Abs(x), math.MaxFloat64)) // fraction is in [½, 1), or 0 for x = 0
	place := 0
	if octave := exponent - 1 - leastOctave; octave >= 0 && fraction > 0 {
		place = 1 + min(octave*parts+int((fraction-0.5)*2*parts), side-1)
	}
	if x < 0 {
		place = -place
	}
	return place + side
}

// middleOf returns a value inside a bin.
func middleOf(bin int) float64 {
	place := bin - side
	if place == 0 {
		return 0
	}
	i := max(place, -place) - 1
	a := math.Ldexp(1+(float64(i%parts)+0.5)/parts, leastOctave+i/parts)
	return math.Copysign(a, float64(place))
}

// ranks counts the weights of two classes by the bin of their prediction.
type ranks struct{ high, low []float64 }

func (r *ranks) add(prediction float64, high bool, weight float64) {
	if r.high == nil {
		r.high, r.low = make([]float64, binCount), make([]float64, binCount)
	}
	if high {
		r.high[binOf(prediction)] += weight
	} else {
		r.low[binOf(prediction)] += weight
	}
}

// auc returns the probability that, of two events of different classes, the event of the high class has the greater
// prediction. Two predictions in one bin count half. It is NaN without events of both classes.
func auc(all ...*ranks) float64 {
	var wins, high, low float64
	for bin := range binCount {
		var h, l float64
		for _, r := range all {
			if r.high != nil {
				h, l = h+r.high[bin], l+r.low[bin]
			}
		}
		wins += h * (low + l/2)
		high, low = high+h, low+l
	}
	return wins / (high * low)
}

// quantile is the running quantile of the added values: the bin below which the given share of the weight lies. It is
// updated with each added value.
type quantile struct {
	level float64
	bins  []float64
	at    int
	below float64 // total weight of the bins before `at`
	total float64
}

func newQuantile(level float64) *quantile {
	return &quantile{level: level, bins: make([]float64, binCount), at: side}
}

func (q *quantile) add(x, weight float64) {
	bin := binOf(x)
	q.bins[bin] += weight
	q.total += weight
	if bin < q.at {
		q.below += weight
	}
	want := q.level * q.total
	for q.at > 0 && q.below > want {
		q.at--
		q.below -= q.bins[q.at]
	}
	for q.at < binCount-1 && q.below+q.bins[q.at] < want {
		q.below += q.bins[q.at]
		q.at++
	}
}

func (q *quantile) value() float64 { return middleOf(q.at) }
