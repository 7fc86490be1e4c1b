package submodular

import (
	"fmt"
	"math"

	"oriel/mechanisms"
)

// expertRegret returns a bound on the expected gain that an expert misses, compared with the best point, in units of
// gain (PROOF.md, Theorem 1). Without a memory the bound covers eventsOf events. With a memory it covers all events,
// each with its weight in the memory.
//
//	(1) G·p + w·V + (a/2)·Λ_T + Σ_j G²/4·min(ρ_j, q/Λ_j)   Gaussian noise whose deviation grows, in all by V
//	(2) G·p + (a/2)·Λ_T + Σ_j (G²·q/4 + G·s·σ*)/Λ_j        noise of any law
//
// G is the number of events between decisions, and j runs over decisions.
func (c operator) expertRegret(m mechanisms.Config, law noiseLaw, r regulariser) float64 {
	x, between := c.expert(), float64(c.every)*float64(m.Batch)
	steady, loose := 0.0, 0.0
	add := func(decisions, lambda, deviation float64) {
		own := between * x.bend / 4
		steady += decisions * between * min(between*law.smoothing(x, deviation)/4, own/lambda)
		loose += decisions * between * (own + x.shift*law.worst) / lambda
	}
	last, variation := r.at(eventsOf(m)), law.worst
	if law.memory > 0 {
		// This is the weight of an event at the next decision.
		kept := math.Exp(float64(c.every) * math.Log1p(-1/float64(law.memory)))
		add(1/(1-kept), last, law.steady)
		variation *= 2 // the noise restarts at most once in a memory
	} else {
		decisions := min(m.Scope.Span(), m.Scope.End()) / c.every
		if decisions == 0 {
			return eventsOf(m)
		}
		for j := uint64(1); j <= decisions; {
			next := min(decisions+1, j+max(1, j/16))
			deviation := law.worst // used only by (1)
			if law.grows {
				deviation = law.at(j * c.every)
			}
			add(float64(next-j), r.at(float64(j)*between), deviation)
			j = next
		}
		if law.grows {
			variation = law.at(decisions * c.every)
		}
	}
	common := between*x.pick + x.spread/2*last
	if !law.grows {
		return common + loose
	}
	return common + min(x.width*variation+steady, loose)
}

// describeNoise describes in words which gains the noise hides. It uses w·σ*, the expected maximum of the noise of N
// elements, over all events.
func (c operator) describeNoise(m mechanisms.Config) string {
	law, err := noiseLawOf(m)
	if err != nil {
		return ""
	}
	events := eventsOf(m)
	return fmt.Sprintf("; noise of the newest sums has standard deviation %.4g and grows with k: after %.6g events it drowns a lead of %.2g or less an event at a position. Sets follow means of sums over the newest 1/%d, which have less noise",
		law.worst, events, c.expert().width*law.worst/events, meansShare)
}

// describeExperts describes in words H and the bound on the regret of sets or points.
func (c operator) describeExperts(m mechanisms.Config) string {
	law, err := noiseLawOf(m)
	if err != nil {
		return ""
	}
	r, err := c.regulariserOf(m)
	if err != nil {
		return ""
	}
	text := "; after n events points are those nearest to released sums over a regulariser H·"
	switch {
	case r.printed:
		text += fmt.Sprintf("n, H = %.4g, as the source has it for any noise", r.strength)
	case r.relief == 0:
		text += fmt.Sprintf("√n, H = %.4g", r.strength)
	default:
		alone := r.relief / r.strength
		text += fmt.Sprintf("√n − C, H = %.4g and C = %.4g, and 1 at least: noise of the sums, of standard deviation %.4g, regularises in place of C, and alone up to %.3g events",
			r.strength, r.relief, law.worst, alone*alone)
	}
	if c.averages() {
		return text + fmt.Sprintf("; sums are means over the newest 1/%d of events, which have less noise: no bound on the value that decisions lack is proved for such means; ORIEL_RATE=bounded has a bound, and learns less", meansShare)
	}
	events, best := eventsOf(m), "set"
	if c.rule == byShares {
		best = "point"
	}
	lacked := c.regret(c.expertRegret(m, law, r), events, c.copiesOf(m))
	if lacked >= events {
		return text + fmt.Sprintf("; no bound on the value that decisions lack holds at %.6g events: it takes more events, less noise, or a smaller ORIEL_EMIT_EVERY", events)
	}
	return text + fmt.Sprintf("; %.6g events lack at most %.4g of 1 − 1/e of the best %s, in the mean", events, lacked, best)
}

// regret returns a bound on the (1−1/e)-regret, from the gain that each expert misses. For leaders it is k times that
// gain (Proposition 3 of the source paper). For shares it is the mean over copies, plus a term for the change of
// gradients from one copy's point to the next (Lemma 7 of the paper).
func (c operator) regret(missed, events float64, copies int) float64 {
	k := float64(c.pick)
	if c.rule == byLeaders {
		return k * c.function.maxGain(c.pick) * missed
	}
	switch c.function {
	case modular: // the gradient is constant
		return missed / k
	case quadratic: // along a point, gradients fall by at most 2
		return 2*missed/k + events/float64(copies)
	default:
		return missed + k*k*events/(2*float64(copies))
	}
}
