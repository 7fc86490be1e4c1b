package experiment

import (
	"errors"
	"math"
)

// Noise is the law of the noise in the increments of a released sum, in units of one draw's standard deviation:
//
//	noise_l = n_l + Σ_k Residues[k]·c_k,    then c_k ← Poles[k]·c_k + n_l,    n_l independent, N(0, 1).
//
// Every c_k is zero at the first step of the stream. If Period is not 0, every c_k is also reset to zero after each
// Period steps.
type Noise struct {
	Poles, Residues []float64 // equally many, at most MaxPoles; poles are in [0, 1)
	Period          uint64    // steps of a block; 0: there are no resets
}

// MaxPoles is the largest number of poles of a Noise.
const MaxPoles = 6

// errWeights reports a law under which an effect could give some looks a negative weight.
var errWeights = errors.New("experiment: noise: the filter of the noise does not fall evenly, so that an effect might weigh some looks negatively")

// average refuses a law under which the weights ω of looks might be negative. PROOF.md, Lemma 2, requires that −b_j
// falls to zero over j ≥ 1, with a sum of at most 1, where b_j = Σ_k Residues[k]·Poles[k]^{j−1}. It checks the
// differences one by one until the slowest pole outweighs all others in
//
//	b_{j+1} − b_j = Σ_k −Residues[k]·(1 − Poles[k])·Poles[k]^{j−1}.
func (n *Noise) average() error {
	const rounding = 1e-9 // tolerance for the sum, which is 1 if the filter's response ends at zero
	sum, slowest := 0.0, 0
	falls, outweighed := [MaxPoles]float64{}, false
	for k, q := range n.Poles {
		sum -= n.Residues[k] / (1 - q)
		falls[k] = -float64(n.Residues[k] * (1 - q))
		if q > n.Poles[slowest] {
			slowest = k
		}
	}
	for j := 0; !outweighed; j++ {
		fall, others := 0.0, 0.0
		for k := range n.Poles {
			fall += falls[k]
			if k != slowest {
				others += max(0, -falls[k])
			}
		}
		if fall < 0 || j == maxFalls || sum > 1+rounding {
			return errWeights
		}
		outweighed = falls[slowest] >= others
		for k, q := range n.Poles {
			falls[k] = float64(falls[k] * q)
		}
	}
	return nil
}

// maxFalls is the largest number of differences that average checks. A law with almost equal poles that needs more is
// refused.
const maxFalls = 1 << 20

// age returns how many steps of the current block have closed, after the given number of steps of the stream.
func (n *Noise) age(steps uint64) uint64 {
	if n.Period == 0 {
		return steps
	}
	return steps % n.Period
}

// past returns q_k^age for every pole: the remaining weight of the block's first draw.
func (n *Noise) past(age uint64) (left [MaxPoles]float64) {
	for k, q := range n.Poles {
		left[k] = power(q, age)
	}
	return left
}

// covariances holds the covariance of each c_k and c_l.
type covariances [MaxPoles][MaxPoles]float64

// covariance returns P_kl = Σ_{j<age} (q_k·q_l)^j, the covariance of c_k and c_l at the age for which left is
// past(age).
func (n *Noise) covariance(left *[MaxPoles]float64) (p covariances) {
	for k, q := range n.Poles {
		for l, o := range n.Poles {
			p[k][l] = (1 - float64(left[k]*left[l])) / (1 - float64(q*o))
		}
	}
	return p
}

// square returns x'Px, at least 0.
func (p *covariances) square(x []float64) float64 {
	sum := 0.0
	for k, a := range x {
		for l, b := range x {
			sum += float64(a * p[k][l] * b)
		}
	}
	return max(sum, 0)
}

// origin describes the c_k at the start of an experiment. They are the sum of two parts. One part is of draws after the
// steps that the choice of the start may depend on. The other part is of earlier draws: whoever chose the start may
// have known it.
type origin struct {
	age   uint64      // number of steps whose draws are in the first part
	fresh covariances // covariance of the first part
	known covariances // covariance that the second part has if nobody looks; zero if there is no second part
	seen  bool        // there is a second part
}

// origin returns the origin of an experiment that starts after `start` steps of the stream. The choice of the start may
// depend on the first `announced` of them.
func (n *Noise) origin(start, announced uint64) (o origin) {
	age, later := n.age(start), start-announced
	o.seen = age > later // the block began before the announcement
	o.age = min(age, later)
	left := n.past(o.age)
	o.fresh = n.covariance(&left)
	if o.seen {
		before := n.past(age - later)
		o.known = n.covariance(&before)
		for k := range n.Poles {
			for l := range n.Poles {
				o.known[k][l] = float64(left[k] * o.known[k][l] * left[l])
			}
		}
	}
	return o
}

// power returns x^n by squaring, 1 for n = 0.
func power(x float64, n uint64) float64 {
	y := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			y = float64(y * x)
		}
		x = float64(x * x)
	}
	return y
}

// total computes the variance of the noise of a sum of increments since the start of an experiment. Its numbers are
// public.
//
// The variance of the sum of L increments of one block has two terms. The draws of these steps add Σ_{i<L} b_i² with
// b_i = 1 + Σ_k r_k(1 − q_k^i)/(1 − q_k), where q_k are the poles and r_k the residues. The c_k at the start add x'Px
// with x_k = r_k(1 − q_k^L)/(1 − q_k) and their covariance P. Draws of different blocks are independent.
type total struct {
	noise *Noise
	state []float64 // settled, own, shift, and q_k^i, counted from the start of the experiment or block
	start uint64    // number of steps of the stream before the experiment
	origin
}

const (
	settled   = iota // variance from earlier blocks
	own              // Σ b_i² of the current block
	shift            // variance that the known part of the origin adds if nobody looks; it is not in the other terms
	firstLeft        // first of the powers q_k^i
)

func totalLen(poles int) int { return firstLeft + poles }

func newTotal(noise *Noise, start, announced uint64, state []float64) *total {
	t := &total{noise: noise, state: state}
	t.from(start, announced)
	t.block()
	return t
}

// from sets the number of steps of the stream before the experiment, and before its announcement.
func (t *total) from(start, announced uint64) {
	t.start, t.origin = start, t.noise.origin(start, announced)
}

// block starts a new block, without any draws.
func (t *total) block() {
	t.state[own] = 0
	for k := range t.noise.Poles {
		t.state[firstLeft+k] = 1
	}
}

// step adds the next increment, in step start + looks of the stream, and returns the variance so far.
func (t *total) step(looks uint64) float64 {
	var gains [MaxPoles]float64
	x, b, left := gains[:len(t.noise.Poles)], 1.0, t.state[firstLeft:]
	for k, q := range t.noise.Poles {
		b += t.gain(k)
		left[k] = float64(left[k] * q)
		x[k] = t.gain(k)
	}
	t.state[own] += float64(b * b)
	variance, period := t.state[settled]+t.state[own], t.noise.Period
	if period == 0 || (t.start+looks-1)/period == t.start/period {
		variance += t.fresh.square(x)
		t.state[shift] = t.known.square(x)
	}
	if period > 0 && (t.start+looks)%period == 0 {
		t.block()
		t.state[settled] = variance
	}
	return variance
}

// gain returns r_k(1 − q_k^i)/(1 − q_k) for the current i.
func (t *total) gain(k int) float64 {
	return t.noise.Residues[k] * (1 - t.state[firstLeft+k]) / (1 - t.noise.Poles[k])
}

// variance returns the variance of the sum of the first steps of a block, in units of a draw's variance.
func (n *Noise) variance(steps uint64) float64 {
	t := newTotal(n, 0, 0, make([]float64, totalLen(len(n.Poles))))
	v := 0.0
	for l := range steps {
		v = t.step(l + 1)
	}
	return v
}

// Deviation returns the standard deviation of the sum of the first steps of a block, in units of a draw's standard
// deviation.
func (n *Noise) Deviation(steps uint64) float64 { return math.Sqrt(n.variance(steps)) }
