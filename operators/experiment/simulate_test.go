package experiment

import (
	"math"
	"math/rand/v2"
)

// dyadic converts the integers of a shipped filter to numbers.
func dyadic(x ...float64) []float64 {
	for i := range x {
		x[i] /= 1 << 30
	}
	return x
}

// These are the filters that blt fits for horizons of 1000 and of 100 steps, and the decay filter for a memory of 1024.
func horizon1000() *Noise {
	return prefixes(dyadic(1071769032, 1037094011, 735973633), dyadic(66032497, 147335676, 309827871))
}

func horizon100() *Noise {
	return prefixes(dyadic(1054081189, 751383634), dyadic(204854929, 319826015))
}

func memory1024() *Noise {
	return &Noise{
		Poles:    dyadic(1066840251, 987082128, 345618745),
		Residues: dyadic(-413508, -20088310, -491908753), Period: 1 << 20,
	}
}

// memory65536 is the decay filter for a memory of 65 536.
func memory65536() *Noise {
	return &Noise{
		Poles:    dyadic(1073588496, 1070891794, 1021774308, 418192221),
		Residues: dyadic(-1611, -137034, -10698999, -479420549), Period: 1 << 26,
	}
}

// draw is the standard deviation of a draw in a column at ε = 1, δ = 1e-6, under replace, with a horizon of 1000.
const draw = 15.3

// source simulates the releases of an experiment's steps.
type source struct {
	rng    *rand.Rand
	s      *Settings
	rate   func(arm int, event float64) float64 // conversion rate
	events float64

	outcomes func(rng *rand.Rand, arm int) float64 // draws outcomes; nil: outcomes are conversions

	past  [][]float64 // c_k of each column
	steps uint64
}

func newSource(s *Settings, seed uint64, rate func(arm int, event float64) float64) *source {
	x := &source{rng: rand.New(rand.NewPCG(seed, 20261126)), s: s, rate: rate}
	for range 3 * len(s.Propensities) {
		x.past = append(x.past, make([]float64, len(s.Noise.Poles)))
	}
	for range s.Start {
		x.noises()
	}
	return x
}

// noises returns the noise of all columns at a step.
func (x *source) noises() []float64 {
	out := make([]float64, len(x.past))
	x.steps++
	for i, past := range x.past {
		n := x.rng.NormFloat64()
		out[i] = n
		for k, q := range x.s.Noise.Poles {
			out[i] += x.s.Noise.Residues[k] * past[k]
			past[k] = q*past[k] + n
		}
		if x.s.Noise.Period > 0 && x.steps%x.s.Noise.Period == 0 {
			clear(past)
		}
	}
	return out
}

// binomial draws from the binomial law of n and p: exactly where n·p or n is small, otherwise by the normal law.
func (x *source) binomial(n, p float64) float64 {
	if p > 0.5 {
		return n - x.binomial(n, 1-p)
	}
	if n*p > 20 {
		return max(0, min(n, math.Round(n*p+math.Sqrt(n*p*(1-p))*x.rng.NormFloat64())))
	}
	if p <= 0 {
		return 0
	}
	hits, at, log := 0.0, 0.0, math.Log1p(-p)
	for {
		if at += 1 + math.Floor(math.Log(1-x.rng.Float64())/log); at > n {
			return hits
		}
		hits++
	}
}

// step writes the increments of the next step.
func (x *source) step(arms []Arm) {
	noise := x.noises()
	left, share := x.s.Events, 1.0
	for k, p := range x.s.Propensities {
		n := left
		if k < len(arms)-1 {
			n = x.binomial(left, p/share)
		}
		left, share = left-n, share-p
		y := x.binomial(n, x.rate(k, x.events))
		squares := n / 2 // Σ(x̃² − ½) of outcomes that are 0 or 1
		if x.outcomes != nil {
			y, squares = 0, 0
			for range int(n) {
				outcome := x.outcomes(x.rng, k)
				y += outcome
				squares += (2*outcome-1)*(2*outcome-1) - 0.5
			}
		}
		arms[k] = Arm{
			Count: n + noise[3*k]*x.s.Count, Value: 2*y - n + noise[3*k+1]*x.s.Value, Square: squares + noise[3*k+2]*x.s.Square,
		}
	}
	x.events += x.s.Events
}

// halves returns the settings of two equal arms over 1000 looks.
func halves(near, events float64) Settings {
	return Settings{
		Propensities: []float64{0.5, 0.5}, Alpha: 0.05, Near: near, Target: 500 * events, Events: events,
		Noise: *horizon1000(), Count: draw, Value: draw,
	}
}

// constant returns constant rates by arm; the last rate also serves all further arms.
func constant(rates ...float64) func(int, float64) float64 {
	return func(arm int, _ float64) float64 { return rates[min(arm, len(rates)-1)] }
}
