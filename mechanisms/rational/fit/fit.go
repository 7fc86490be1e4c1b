package fit

import (
	"math"
	"strings"
)

// Rates are 1 − q_k and 1 − p_i of poles q and zeros p, all in (0, 1), both in rising order. There are at most seven of
// each.
type Rates struct {
	Poles, Zeros []float64
}

// maxPoles is the largest number of poles: six of package decay, and the rate of DecayLoss. With this bound the arrays
// of a loss stay on the stack, which matters because a fit computes tens of thousands of losses.
const maxPoles = 7

// Residues returns R_k of b = Π(z − p_i)/Π(z − q_k) = 1 + ΣR_k/(z − q_k). All are positive if poles and zeros
// alternate, starting with a pole.
func (r Rates) Residues() []float64 { return r.residues(nil) }

// residues appends the residues to dst.
func (r Rates) residues(dst []float64) []float64 {
	for k, q := range r.Poles {
		product := 1.0
		for i, p := range r.Zeros {
			product *= p - q
			if i != k {
				product /= r.Poles[i] - q
			}
		}
		dst = append(dst, product)
	}
	return dst
}

// inverse appends the weights D of d_j = D_0 + ΣD_i·p_i^j, d = 1/((1−x)b), to dst.
func (r Rates) inverse(dst []float64) []float64 {
	first := 1.0
	for k := range r.Zeros {
		first *= r.Poles[k] / r.Zeros[k]
	}
	dst = append(dst, first)
	for i, p := range r.Zeros {
		product := 1 / p
		for k, q := range r.Poles {
			product *= p - q
			if k != i {
				product /= p - r.Zeros[k]
			}
		}
		dst = append(dst, product)
	}
	return dst
}

// energy returns Σb_j² of b = Π(1 − p_i·x)/Π(1 − q_k·x).
func (r Rates) energy() float64 {
	var buffer [maxPoles]float64
	var lengths [maxPoles][maxPoles]float64 // distance of each pair of poles, symmetric
	sum := 1.0
	residues := r.residues(buffer[:0])
	for k, a := range r.Poles {
		for l, b := range r.Poles[:k+1] {
			lengths[k][l] = a + b - a*b
			lengths[l][k] = lengths[k][l]
		}
	}
	for k := range r.Poles {
		for l := range r.Poles {
			sum += residues[k] * residues[l] / lengths[k][l]
		}
	}
	return sum
}

// late is the weight of a hundred windows within the age weight. The loss of ten windows hardly depends on the slowest
// pole. Without late, µ(100W) would be 5 % larger for 0.2 % less variance.
const late = 0.04

// Loss is log Σb² + (1−w)·log Σ_{j<W}d² + w·((1−late)·log Σ_{j<10W}d² + late·log Σ_{j<100W}d²): the logarithm of the
// variance at equal guarantee over one window for w = 0, over ten or more windows for w = 1.
func (r Rates) Loss(window, weight float64) float64 {
	var a ages
	return a.loss(r, window, weight)
}

// loss returns Loss.
func (a *ages) loss(r Rates, window, weight float64) float64 {
	loss := math.Log(r.energy())
	a.prepare(r)
	loss += (1 - weight) * math.Log(a.energy(0, window))
	if weight > 0 {
		loss += weight * ((1-late)*math.Log(a.energy(1, 10*window)) + late*math.Log(a.energy(2, 100*window)))
	}
	return loss
}

// ages holds the quantities that the energies of d at all ages share: the weights D, and log(p_i·p_k) and 1 − p_i·p_k
// of pairs of zeros, k ≤ i, with p_0 = 1. It keeps those of zeros that are equal in the next rates, because successive
// points of a finite difference differ in few of them.
type ages struct {
	n       int
	weights [maxPoles + 1]float64
	rates   [maxPoles + 1]float64
	moved   [maxPoles + 1]bool
	single  [maxPoles + 1]float64
	logs    [maxPoles + 1][maxPoles + 1]float64
	limits  [maxPoles + 1][maxPoles + 1]float64
	spans   [3]span
	version int // counts the calls of prepare
}

// span is Σ_{j<terms} (p_i·p_k)^j of each pair of zeros, for the rates of a version.
type span struct {
	version int
	terms   float64
	lengths [maxPoles + 1][maxPoles + 1]float64
}

func (a *ages) prepare(r Rates) {
	n := len(r.inverse(a.weights[:0]))
	fresh := n != a.n
	a.n = n
	a.version++
	a.moved[0] = fresh
	for i, rate := range r.Zeros {
		if a.moved[i+1] = fresh || rate != a.rates[i+1]; a.moved[i+1] {
			a.rates[i+1], a.single[i+1] = rate, math.Log1p(-rate)
		}
	}
	for i := range a.n {
		for k := range i + 1 {
			if a.moved[i] || a.moved[k] {
				a.logs[i][k] = a.single[i] + a.single[k]
				a.limits[i][k] = a.rates[i] + a.rates[k] - a.rates[i]*a.rates[k]
			}
		}
	}
}

// energy returns the sum of d_j² over the given number of first terms. Each number of terms has a span of its own.
func (a *ages) energy(at int, terms float64) float64 {
	s := &a.spans[at]
	fresh := s.version != a.version-1 || s.version == 0 || s.terms != terms
	s.version, s.terms = a.version, terms
	for i := range a.n {
		for k := range i + 1 {
			if !fresh && !a.moved[i] && !a.moved[k] {
				continue
			}
			length := terms
			if i > 0 {
				length = -math.Expm1(terms*a.logs[i][k]) / a.limits[i][k]
			}
			s.lengths[i][k], s.lengths[k][i] = length, length
		}
	}
	sum := 0.0
	for i, w := range a.weights[:a.n] {
		for k, v := range a.weights[:a.n] {
			sum += w * v * s.lengths[i][k]
		}
	}
	return sum
}

// order is the sequence of poles (P) and zeros (Z) in the order of rising rate.
type order string

// decoder turns coordinates of the search into rates of an order. It keeps the exponentials of the last point, because
// successive points of a finite difference differ in few coordinates.
type decoder struct {
	order        order
	x, steps     [2 * maxPoles]float64 // coordinates, and e^x of all but the first
	odds, rates  [2 * maxPoles]float64
	poles, zeros [maxPoles]float64
	known        int // number of entries that are valid for the last point
}

// decode returns the rates of a point: its coordinates are the log-odds of the smallest rate, then the logarithms of
// the steps, in log-odds, to the next. Every point gives rates in this order. The next call overwrites the rates.
func (d *decoder) decode(x []float64) Rates {
	r := Rates{Poles: d.poles[:0], Zeros: d.zeros[:0]}
	odds := 0.0
	for i, y := range x {
		old := i < d.known
		if !old || y != d.x[i] {
			d.x[i], d.steps[i] = y, y
			if i > 0 {
				d.steps[i] = math.Exp(y)
			}
		}
		odds += d.steps[i]
		if !old || odds != d.odds[i] {
			d.odds[i], d.rates[i] = odds, 1/(1+math.Exp(-odds))
		}
		if d.order[i] == 'P' {
			r.Poles = append(r.Poles, d.rates[i])
		} else {
			r.Zeros = append(r.Zeros, d.rates[i])
		}
	}
	d.known = len(x)
	return r
}

// spread returns m log-spaced rates from low to high.
func spread(low, high float64, m int) []float64 {
	x := make([]float64, 2*m)
	step := (math.Log(high/(1-high)) - math.Log(low/(1-low))) / float64(2*m-1)
	x[0] = math.Log(low / (1 - low))
	for i := 1; i < len(x); i++ {
		x[i] = math.Log(step)
	}
	return x
}

// Fit minimises Loss over m poles and m zeros that alternate, starting with a pole, from several log-spaced starts. ok
// is false if no start gives a finite loss.
func Fit(window, weight float64, m int) (best Rates, loss float64, ok bool) {
	loss = math.Inf(1)
	for _, slow := range []float64{1, 0.1} {
		var a ages
		r := order(strings.Repeat("PZ", m)).search(window, slow, func(r Rates) float64 { return a.loss(r, window, weight) })
		if y := r.Loss(window, weight); y < loss {
			best, loss, ok = r, y, true
		}
	}
	return best, loss, ok
}

const (
	// MixedPoles is the number of poles of Mixed.
	MixedPoles = 4

	// longest is the longest window for which Mixed gains more than a sixth of a per cent.
	longest = 512
)

// Mixed minimises Loss at weight 0 over poles and zeros that do not alternate, which gives residues of both signs. Then
// d falls below its limit at the end of the window and rises after it, which makes the variance up to 1 % smaller. ok
// is false if the variance is not smaller.
func Mixed(window float64) (best Rates, loss float64, ok bool) {
	if window < 2 || window > longest {
		return best, loss, false
	}
	o := order("ZPPZPZPZ")
	if window < 100 {
		o = "ZPPPZZPZ"
	}
	var a ages
	best = o.search(window, 1, func(r Rates) float64 { return a.loss(r, window, 0) + crowding(r) })
	loss = best.Loss(window, 0)
	return best, loss, loss < math.Inf(1)
}

// search minimises price over the rates of an order, starting from log-spaced rates between slow/window and 0.7.
func (o order) search(window, slow float64, price func(Rates) float64) Rates {
	m, d := len(o)/2, decoder{order: o}
	x, _ := minimise(func(x []float64) float64 {
		r := d.decode(x)
		if min(r.Poles[0], r.Zeros[0]) < slowest || max(r.Poles[m-1], r.Zeros[m-1]) > fastest {
			return math.Inf(1)
		}
		if y := price(r); !math.IsNaN(y) {
			return y
		}
		return math.Inf(1)
	}, spread(slow/(window+2), 0.7, m))
	return d.decode(x)
}

// crowding is a small penalty in Mixed against degenerate rates, which Loss alone would accept: poles and zeros that
// meet, with infinite residues, or a last zero that leaves (0, 1). It costs some 10⁻⁴ of loss.
func crowding(r Rates) float64 {
	price := 0x1p-20 / (1 - r.Zeros[len(r.Zeros)-1])
	var buffer [maxPoles + 1]float64
	for _, x := range r.residues(buffer[:0]) {
		price += 0x1p-20 * math.Pow(x, 8) // a penalty that keeps residues below 2
	}
	for _, x := range r.inverse(buffer[:0]) {
		price += 1e-8 * x * x
	}
	return price
}

// Bounds of the rates, such that dyadics of 30 bits keep the slowest pole below 1 and the last zero above 0.
const (
	slowest = 0x1p-27
	fastest = 1 - 0x1p-8
)
