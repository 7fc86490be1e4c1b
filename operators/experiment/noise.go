package experiment

import (
	"errors"
	"math"
)

// Noise is the law of the noise in the increments of a released sum, in units of one draw's standard deviation:
//
//	noise_l = n_l + Σ_k Residues[k]·c_k,    then c_k ← Poles[k]·c_k + n_l,    n_l independent, N(0, 1).
//
// Every c_k is zero at the first step of the stream and, where Period is not 0, after each Period steps of it.
type Noise struct {
	Poles, Residues []float64 // as many, at most MaxPoles; poles in [0, 1)
	Period          uint64    // steps
}

// MaxPoles bounds the poles of a Noise.
const MaxPoles = 6

// errWeights reports a law under which an effect could give some looks a negative weight.
var errWeights = errors.New("experiment: noise: its filter does not fall evenly, so that an effect might weigh some looks negatively")

// average refuses a law whose weights ω may not be an average. PROOF.md, Lemma 2, requires that −b_j falls to zero over
// j ≥ 1, with a sum of at most 1, where b_j = Σ_k Residues[k]·Poles[k]^{j−1}. It falls at every j once the slowest pole
// outweighs all others in
//
//	b_{j+1} − b_j = Σ_k −Residues[k]·(1 − Poles[k])·Poles[k]^{j−1}.
func (n *Noise) average() error {
	const rounding = 1e-9 // of the sum, which is 1 where a filter forgets its draws
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
		if fall < 0 || j == mostFalls || sum > 1+rounding {
			return errWeights
		}
		outweighed = falls[slowest] >= others
		for k, q := range n.Poles {
			falls[k] = float64(falls[k] * q)
		}
	}
	return nil
}

// mostFalls bounds how many differences average checks; it refuses a law with almost equal poles that needs more.
const mostFalls = 1 << 20

// age returns how many steps of the current block have closed after the given number of steps.
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

// covariance returns P_kl = Σ_{j<age} (q_k·q_l)^j, the covariance of c_k and c_l at an age, for left = past(age).
func (n *Noise) covariance(left *[MaxPoles]float64) (p [MaxPoles][MaxPoles]float64) {
	for k, q := range n.Poles {
		for l, o := range n.Poles {
			p[k][l] = (1 - float64(left[k]*left[l])) / (1 - float64(q*o))
		}
	}
	return p
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

// total computes the variance of the noise of a sum of increments since a public start. Its numbers are public.
//
// The sum of L increments of one block has Σ_{i<L} b_i² of its own draws, b_i = 1 + Σ_k r_k(1 − q_k^i)/(1 − q_k), and
// x'Px of earlier draws, x_k = r_k(1 − q_k^L)/(1 − q_k). Draws of different blocks are independent.
type total struct {
	noise *Noise
	state []float64 // settled, own, q_k^i from the start of the experiment or block on
	start uint64    // steps of the stream before the experiment
	p     [MaxPoles][MaxPoles]float64
}

const (
	settled   = iota // of earlier blocks
	own              // Σ b_i² of this one
	firstLeft        // q_k^i
)

func totalLen(poles int) int { return firstLeft + poles }

func newTotal(noise *Noise, start uint64, state []float64) *total {
	t := &total{noise: noise, state: state}
	t.from(start)
	t.block()
	return t
}

// from sets after how many steps of the stream the experiment starts.
func (t *total) from(start uint64) {
	left := t.noise.past(t.noise.age(start))
	t.start, t.p = start, t.noise.covariance(&left)
}

// block starts a block, of which nothing has been drawn.
func (t *total) block() {
	t.state[own] = 0
	for k := range t.noise.Poles {
		t.state[firstLeft+k] = 1
	}
}

// step takes the next increment, of step start + looks of the stream, and returns the variance so far.
func (t *total) step(looks uint64) float64 {
	b, left := 1.0, t.state[firstLeft:]
	for k, q := range t.noise.Poles {
		b += t.gain(k)
		left[k] = float64(left[k] * q)
	}
	t.state[own] += float64(b * b)
	variance := t.state[settled] + t.state[own] + t.before(looks)
	if t.noise.Period > 0 && (t.start+looks)%t.noise.Period == 0 {
		t.block()
		t.state[settled] = variance
	}
	return variance
}

// gain returns r_k(1 − q_k^i)/(1 − q_k).
func (t *total) gain(k int) float64 {
	return t.noise.Residues[k] * (1 - t.state[firstLeft+k]) / (1 - t.noise.Poles[k])
}

// before returns the variance due to draws before the experiment, which only its first block has.
func (t *total) before(looks uint64) float64 {
	if t.noise.Period > 0 && (t.start+looks-1)/t.noise.Period != t.start/t.noise.Period {
		return 0
	}
	sum := 0.0
	for k := range t.noise.Poles {
		for l := range t.noise.Poles {
			sum += float64(t.gain(k) * t.p[k][l] * t.gain(l))
		}
	}
	return max(sum, 0)
}

// variance computes the variance of the sum of the first steps of a block.
func (n *Noise) variance(steps uint64) float64 {
	t := newTotal(n, 0, make([]float64, totalLen(len(n.Poles))))
	v := 0.0
	for l := range steps {
		v = t.step(l + 1)
	}
	return v
}

// Deviation returns the standard deviation of the sum of the first steps of a block, in units of a draw's.
func (n *Noise) Deviation(steps uint64) float64 { return math.Sqrt(n.variance(steps)) }
