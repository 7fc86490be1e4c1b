package loss

import (
	"math"

	"oriel/operators/elementary"
)

// Bounds are public bounds on events and decisions. PROOF.md derives the resulting bounds on gradients.
type Bounds struct {
	Decision  float64 // R, the largest |x| of decisions in the set
	Dimension int     // n, the dimension
	Clip      float64 // L, the length to which gradients are clipped
	Features  float64 // X, the largest |a|; 0: unknown
	Weight    float64 // largest weight w
	Label     float64 // Y, the largest |y|; 0: unknown
}

// Contributions bounds the gradients of events within Bounds, clipped to L. At a decision x they lie in the ball of
// Radius around Pull·x + Offset, and none is longer than Norm.
type Contributions struct {
	Pull   float64 // κ, the factor of x in the centre
	Offset float64 // added to each coordinate of the centre; 0 unless the dimension is 1
	Radius float64 // radius of the ball: half of the largest distance between gradients
	Reach  float64 // largest norm of a centre
	Norm   float64
}

// rounding exceeds the relative error of the few operations in each formula here.
const rounding = 0x1p-40

// up increases a length by rounding.
func up(length float64) float64 { return float64(length * (1 + rounding)) }

// ContributionsOf returns the contributions of a loss. It returns false if no bound better than the clip is known: for
// losses whose gradients fill the ball of the clip, and if a needed bound of b is 0.
func ContributionsOf(l Loss, b Bounds) (Contributions, bool) {
	var c Contributions
	switch q := l.(type) {
	case Logistic:
		c = b.logistic()
	case Squared:
		c = b.squared()
	case Quantile:
		c = b.quantile(q.Tau)
	default:
		return Contributions{}, false
	}
	c.Norm = min(c.Norm, b.Clip)
	ok := c.Radius > 0 && c.Radius < b.Clip && c.Norm > 0 && c.Reach <= c.Radius
	return c, ok
}

// logistic is PROOF.md, Theorem 1: with u the root of u(1 + u + eᵘ) = (RX)² and σ = σ(u),
//
//	κ = wX²·σ/(1 + u + eᵘ)        radius wX·σ·√((1 + eᵘ)/(1 + u + eᵘ))        norm wX·σ(RX)
func (b Bounds) logistic() Contributions {
	reach := float64(b.Decision * b.Features)
	square := float64(reach * reach)
	low, high := 0.0, reach // at u = RX the left side of the equation exceeds the right side
	for range 2000 {
		middle := low + float64((high-low)/2)
		if middle == low || middle == high {
			break
		}
		if float64(middle*(1+middle+elementary.Exp(middle))) < square {
			low = middle
		} else {
			high = middle
		}
	}
	grown := elementary.Exp(high)
	slope, all := 1/(1+elementary.Exp(-high)), 1+high+grown
	size := float64(b.Weight * b.Features)
	pull := float64(float64(size*b.Features)*slope) / all
	return Contributions{
		Pull: pull, Radius: up(float64(float64(size*slope) * math.Sqrt((1+grown)/all))),
		Reach: up(float64(pull * b.Decision)),
		Norm:  up(size / (1 + elementary.Exp(-reach))),
	}
}

// squared is PROOF.md, Theorem 2: with Q = RX, C = L/(wX), t = min((√(Y² + 8Q²) − Y)/4, C − Y) = min(2Q²/(√(Y² + 8Q²) +
// Y), C − Y) and S = t + Y,
//
//	κ = wX²·tS/Q²        radius wX·S·√(1 − t²/Q²)        norm wX·min(C, Q + Y)
//
// It requires 0 < Y < C.
func (b Bounds) squared() Contributions {
	reach, size := float64(b.Decision*b.Features), float64(b.Weight*b.Features)
	most, y := b.Clip/size, b.Label
	if !(size > 0 && y > 0 && y < most) {
		return Contributions{}
	}
	root := math.Sqrt(float64(y*y) + float64(8*float64(reach*reach)))
	t := min(float64(2*float64(reach*reach))/(root+y), most-y)
	share := t / reach
	pull := float64(float64(size*b.Features) * float64(share*float64((t+y)/reach)))
	return Contributions{
		Pull: pull, Radius: up(float64(float64(size*(t+y)) * math.Sqrt(1-float64(share*share)))),
		Reach: up(float64(pull * b.Decision)),
		Norm:  up(float64(size * min(most, reach+y))),
	}
}

// quantile is PROOF.md, Theorem 3: slopes are −τ and 1−τ. In one dimension the vector is 1; in more, it is any vector
// of norm X.
func (b Bounds) quantile(tau float64) Contributions {
	above, below := min(b.Clip, float64(b.Weight*(1-tau))), min(b.Clip, float64(b.Weight*tau))
	if b.Dimension == 1 {
		offset := float64((above - below) / 2)
		return Contributions{
			Offset: offset, Reach: up(math.Abs(offset)), Radius: up((above + below) / 2), Norm: up(max(above, below)),
		}
	}
	norm := up(float64(float64(b.Weight*b.Features) * max(tau, 1-tau)))
	return Contributions{Radius: norm, Norm: norm}
}
