package attack

import (
	"errors"
	"math"

	"oriel/cmd/internal/audit/subject"
	"oriel/mechanisms"
	"oriel/mechanisms/audit"
)

// Repetition checks the noise of repeated runs. The same records under the same identities must get the same noise.
// Records under other identities, and a stream with the canary's neighbour in place of the canary, must get other
// noise. Two draws of discrete noise may be equal by chance, so then the check is repeated with other runs.
func Repetition(a *subject.Subject) (subject.Check, error) {
	check := subject.Check{
		Name: "repetition", Looked: "runs under the same identities, and under others", Count: 4,
		Found: "the same records have one noise, others another", Holds: true,
	}
	tries := repeats(coincidence(a))
	if tries == 0 {
		check.Count, check.Found = 0, "noise is so small that different runs often have the same"
		return check, nil
	}
	check.Count *= tries
	first, u := a.Earliest(), a.Dense(a.Random("direction", 0))
	k, errCanary := audit.NewCanary(a.Mechanism, first, Age(a, first, 0))
	var errContributions error
	k.With, k.Without, errContributions = a.Contributions(u)
	p, errOpen := a.Open()
	if err := errors.Join(errCanary, errContributions, errOpen); err != nil {
		return check, err
	}
	t := &Attack{Canary: k, direction: u}
	play, err := t.play(p), error(nil)
	for try := range tries {
		err = audit.CheckHistory(func(run uint64, canary bool, observe func([]float64)) error {
			return play(run+2*try, canary, observe)
		}, t.Canary)
		if !errors.Is(err, audit.ErrReused) && !errors.Is(err, audit.ErrShared) {
			break
		}
	}
	return check.RefutedBy(err, audit.ErrRedrawn, audit.ErrReused, audit.ErrShared)
}

// chance is the largest probability that an honest machine is refuted because draws are equal, and mostRepeats the
// largest number of repetitions that make it so small.
const (
	chance      = 1e-9
	mostRepeats = 64
)

// repeats returns how often the check must be repeated so that an honest machine passes, if one draw of a step equals
// another with this probability: 1 if that hardly happens, and 0 if no number is large enough. Each repetition compares
// two pairs of draws.
func repeats(equal float64) uint64 {
	for tries, all := uint64(1), 2*equal; tries <= mostRepeats; tries, all = tries+1, all*2*equal {
		if all <= chance {
			return tries
		}
	}
	return 0
}

// coincidence returns the probability that two independent draws of the noise of one step are equal. It is Σ P(n)² over
// the integers for each coordinate: with P(n) = q^|n|·(1−q)/(1+q) it is (1−q)(1+q²)/(1+q)³. For other noise it is 0,
// because a lattice unit is small beside the scale.
func coincidence(a *subject.Subject) float64 {
	if facts, _ := mechanisms.FactsOf(a.Mechanism.Name); !facts.Discrete() {
		return 0
	}
	all := 1.0
	for _, c := range a.Components {
		for i := range c.To - c.From {
			q := math.Exp(-float64(c.Steps[i%len(c.Steps)]) / c.Scale.Float64())
			all *= (1 - q) * (1 + q*q) / ((1 + q) * (1 + q) * (1 + q))
		}
	}
	return all
}
