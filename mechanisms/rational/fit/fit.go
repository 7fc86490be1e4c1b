package fit

import (
	"math"
	"strings"
)

// Rates are 1 − q_k and 1 − p_i of poles q and zeros p, all in (0, 1), both rising.
type Rates struct {
	Poles, Zeros []float64
}

// Residues returns R_k of b = Π(z − p_i)/Π(z − q_k) = 1 + ΣR_k/(z − q_k), all positive when poles and zeros alternate,
// a pole first.
func (r Rates) Residues() []float64 {
	out := make([]float64, len(r.Poles))
	for k, q := range r.Poles {
		product := 1.0
		for i, p := range r.Zeros {
			product *= p - q
			if i != k {
				product /= r.Poles[i] - q
			}
		}
		out[k] = product
	}
	return out
}

// inverse returns the weights D of d_j = D_0 + ΣD_i·p_i^j, d = 1/((1−x)b).
func (r Rates) inverse() []float64 {
	out := make([]float64, len(r.Zeros)+1)
	out[0] = 1
	for k := range r.Zeros {
		out[0] *= r.Poles[k] / r.Zeros[k]
	}
	for i, p := range r.Zeros {
		product := 1 / p
		for k, q := range r.Poles {
			product *= p - q
			if k != i {
				product /= p - r.Zeros[k]
			}
		}
		out[i+1] = product
	}
	return out
}

// energy returns Σb_j² of b = Π(1 − p_i·x)/Π(1 − q_k·x).
func (r Rates) energy() float64 {
	sum := 1.0
	residues := r.Residues()
	for k, a := range r.Poles {
		for l, b := range r.Poles {
			sum += residues[k] * residues[l] / (a + b - a*b)
		}
	}
	return sum
}

// late is the part of the age weight that looks at a hundred windows: the loss of ten is flat in the slowest pole, and
// without it µ(100W) is 5 % larger for 0.2 % of variance.
const late = 0.04

// Loss is log Σb² + (1−w)·log Σ_{j<W}d² + w·((1−late)·log Σ_{j<10W}d² + late·log Σ_{j<100W}d²): the variance at equal
// guarantee of one window for w = 0, of some ten for w = 1.
func (r Rates) Loss(window, weight float64) float64 {
	rates, d := append([]float64{0}, r.Zeros...), r.inverse()
	logs := make([]float64, len(rates)) // of p_i
	for i, a := range rates {
		logs[i] = math.Log1p(-a)
	}
	energy := func(terms float64) float64 {
		sum := 0.0
		for i, a := range rates {
			for k, b := range rates {
				length := terms
				if i > 0 || k > 0 {
					length = -math.Expm1(terms*(logs[i]+logs[k])) / (a + b - a*b)
				}
				sum += d[i] * d[k] * length
			}
		}
		return sum
	}
	loss := math.Log(r.energy()) + (1-weight)*math.Log(energy(window))
	if weight > 0 {
		loss += weight * ((1-late)*math.Log(energy(10*window)) + late*math.Log(energy(100*window)))
	}
	return loss
}

// order is a row of poles, P, and zeros, Z, by rising rate.
type order string

// The coordinates of the search: the logarithm of the odds of the smallest rate, then the logarithms of the steps, in
// log-odds, to the next. Every point has the order.
func (o order) decode(x []float64) Rates {
	var r Rates
	odds := 0.0
	for i, y := range x {
		if i == 0 {
			odds = y
		} else {
			odds += math.Exp(y)
		}
		rate := 1 / (1 + math.Exp(-odds))
		if o[i] == 'P' {
			r.Poles = append(r.Poles, rate)
		} else {
			r.Zeros = append(r.Zeros, rate)
		}
	}
	return r
}

// spread returns log-spaced rates from low to high.
func spread(low, high float64, m int) []float64 {
	x := make([]float64, 2*m)
	step := (math.Log(high/(1-high)) - math.Log(low/(1-low))) / float64(2*m-1)
	x[0] = math.Log(low / (1 - low))
	for i := 1; i < len(x); i++ {
		x[i] = math.Log(step)
	}
	return x
}

// Fit minimises Loss over m poles and zeros that alternate, a pole first, from several log-spaced starts. ok is false
// when no start gave a finite loss.
func Fit(window, weight float64, m int) (best Rates, loss float64, ok bool) {
	loss = math.Inf(1)
	for _, slow := range []float64{1, 0.1} {
		r := order(strings.Repeat("PZ", m)).search(window, slow, func(r Rates) float64 { return r.Loss(window, weight) })
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

// Mixed minimises Loss at weight 0 over poles and zeros that do not alternate, and give residues of both signs. d then
// falls below its limit at the end of the window, which makes the variance up to 1 % smaller, and rises after it. ok is
// false when that gains nothing.
func Mixed(window float64) (best Rates, loss float64, ok bool) {
	if window < 2 || window > longest {
		return best, loss, false
	}
	o := order("ZPPZPZPZ")
	if window < 100 {
		o = "ZPPPZZPZ"
	}
	best = o.search(window, 1, func(r Rates) float64 { return r.Loss(window, 0) + crowding(r) })
	loss = best.Loss(window, 0)
	return best, loss, loss < math.Inf(1)
}

// search minimises price over the rates of an order, from log-spaced ones between slow/window and 0.7.
func (o order) search(window, slow float64, price func(Rates) float64) Rates {
	m := len(o) / 2
	x, _ := minimise(func(x []float64) float64 {
		r := o.decode(x)
		if min(r.Poles[0], r.Zeros[0]) < slowest || max(r.Poles[m-1], r.Zeros[m-1]) > fastest {
			return math.Inf(1)
		}
		if y := price(r); !math.IsNaN(y) {
			return y
		}
		return math.Inf(1)
	}, spread(slow/(window+2), 0.7, m))
	return o.decode(x)
}

// crowding is a small price of what Loss alone does not see in Mixed: their poles and zeros would meet in one, with
// infinite residues, or the last zero leave (0, 1). It costs some 10⁻⁴ of loss.
func crowding(r Rates) float64 {
	price := 0x1p-20 / (1 - r.Zeros[len(r.Zeros)-1])
	for _, x := range r.Residues() {
		price += 0x1p-20 * math.Pow(x, 8) // keeps residues below 2
	}
	for _, x := range r.inverse() {
		price += 1e-8 * x * x
	}
	return price
}

// Bounds of the rates, which dyadics of 30 bits keep: the slowest pole stays below 1, the last zero above 0.
const (
	slowest = 0x1p-27
	fastest = 1 - 0x1p-8
)
