package submodular

import (
	"math"

	"oriel/mechanisms"
	"oriel/operators/elementary"
)

// regulariser sets how strongly released sums are damped in the points of leaders and shares. After n events a point is
// the projection of ĝ/Λ_n, where ĝ are the released sums of the point's gains. The unit of Λ_n is a gain.
type regulariser struct {
	strength float64 // H, the strength of the regulariser
	relief   float64 // C, the regularisation that the noise itself supplies; 0 with the printed rate
	printed  bool    // Λ_n = H·n, as the source paper prints it; otherwise Λ_n = max(1, H·√n − C)
}

// at returns Λ_n.
func (r regulariser) at(n float64) float64 {
	if r.printed {
		return float64(r.strength * n)
	}
	return max(1, float64(r.strength*math.Sqrt(n))-r.relief)
}

// expert holds the constants of one leader or copy (PROOF.md, What leaders and shares miss). Its points are in {0 ≤ x ≤
// 1, Σx = p}. p is 1 for a leader and min(k, N − k) for a copy, because the complement of a set behaves like the set.
type expert struct {
	pick   float64 // p, the sum of a point's coordinates
	spread float64 // a = p − p²/N, the difference between the largest and the least |x|²
	width  float64 // w: E max_x ⟨Z, x⟩ ≤ w for N independent standard normal Z
	bend   float64 // q: moving the point along an event's own gains increases the event's gain by at most q/(4Λ)
	shift  float64 // s: noise of standard deviation σ changes an event's expected gain by at most s·σ/Λ
}

// expert returns the constants: q = N − 1 and s = N/2 or, for gains with the length bound M, 2M² and M√N if these are
// smaller.
func (c operator) expert() expert {
	n := float64(c.elements)
	x := expert{pick: 1, bend: n - 1, shift: n / 2}
	if c.rule == byShares {
		x.pick = float64(min(c.pick, c.elements-c.pick))
	}
	x.spread = x.pick - float64(x.pick*x.pick)/n
	x.width = float64(x.pick * math.Sqrt(2*elementary.Log(n/x.pick)))
	if c.norm > 0 {
		x.bend = min(x.bend, float64(2*float64(c.norm*c.norm)))
		x.shift = min(x.shift, float64(c.norm*math.Sqrt(n)))
	}
	return x
}

// regulariserOf derives H and C from the noise that m declares. H = √(G·q/a) balances two losses: the loss from the
// regulariser, and the loss from the movement of points. C = 4q/ρ is the largest Λ_n for which the noise keeps points
// steadier than the regulariser would. G is the number of events between decisions with the bounded rate, and 1 with
// the tight rate. With the bounded rate, and noise that is not Gaussian or that changes with the nodes of a tree, H =
// √((G·q + 4s·σ*)/a) must also damp the noise, and C is 0.
func (c operator) regulariserOf(m mechanisms.Config) (regulariser, error) {
	if c.printed {
		return regulariser{strength: c.strength(m), printed: true}, nil
	}
	law, err := noiseLawOf(m)
	if err != nil {
		return regulariser{}, err
	}
	x, between := c.expert(), 1.0
	if c.bounded {
		between, _ = c.spans(m)
	}
	if c.bounded && !law.grows {
		return regulariser{
			strength: math.Sqrt((float64(between*x.bend) + float64(float64(4*x.shift)*law.worst)) / x.spread),
		}, nil
	}
	return regulariser{
		strength: math.Sqrt(float64(between*x.bend) / x.spread),
		relief:   float64(4*x.bend) / law.smoothing(x, law.worst),
	}, nil
}

// noiseLaw is the law of the noise of a released sum, as the calibration of a mechanism states it.
type noiseLaw struct {
	law    mechanisms.Law
	grows  bool                      // Gaussian noise of a filter, whose deviation rises until a memory's reset
	at     func(step uint64) float64 // standard deviation of Gaussian noise after a step
	worst  float64                   // σ*, the largest standard deviation of a released number
	steady float64                   // limit of the standard deviation long after the start
	node   float64                   // scale of one draw, in units of gain
	memory uint64                    // memory of decaying sums in steps; 0 if sums do not decay
}

// noiseLawOf reads the law from a calibration.
func noiseLawOf(m mechanisms.Config) (noiseLaw, error) {
	calibration, err := mechanisms.Calibrate(m)
	if err != nil {
		return noiseLaw{}, err
	}
	facts, _ := mechanisms.FactsOf(m.Name)
	component := calibration.Component(0)
	n := noiseLaw{law: facts.Law, node: float64(component.Scale.Float64() * component.Grid.Unit())}
	n.memory, _ = m.Scope.Memory()
	nodes := math.Sqrt(float64(max(1, calibration.Levels)))
	switch facts.Law {
	case mechanisms.Laplace: // Laplace noise of scale b has variance 2b²
		n.worst = float64(nodes * float64(math.Sqrt2*n.node))
	case mechanisms.Gamma: // the norm of n numbers has the mean square n(n + 1)θ²
		n.worst = float64(nodes * float64(n.node*math.Sqrt(float64(m.Dimension())+1)))
	default:
		stream, err := mechanisms.Open(m, calibration, [32]byte{})
		if err != nil {
			return noiseLaw{}, err
		}
		deviation, err := stream.Deviation(0, 0)
		if err != nil {
			return noiseLaw{}, err
		}
		n.at, n.worst, n.steady = deviation.At, deviation.Worst(), deviation.SteadyState()
		n.grows = !facts.AtNodes()
	}
	return n, nil
}

// smoothing returns ρ: without a regulariser, the noise limits the change of the expected point to ρ for each unit of
// gain, where ρ is the trace of the derivative of the mean point. ρ is w/σ for Gaussian noise of deviation σ, p/b for
// Laplace noise of scale b and √a/θ for Γ noise of scale θ.
func (n noiseLaw) smoothing(x expert, deviation float64) float64 {
	switch n.law {
	case mechanisms.Laplace:
		return x.pick / n.node
	case mechanisms.Gamma:
		return math.Sqrt(x.spread) / n.node
	default:
		return x.width / deviation
	}
}
