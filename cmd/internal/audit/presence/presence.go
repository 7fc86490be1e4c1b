package presence

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"oriel/cmd/internal/audit/subject"
	"oriel/mechanisms"
	"oriel/mechanisms/audit/bound"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// Stream is a stream that counts names, with its claim.
type Stream struct {
	*mechanisms.Stream
	Random *rand.Rand // tosses the coins of units

	sent noise.Identity
}

// Limits of a step of an attack: names of single persons, and events of shared names.
const (
	lonelyNames  = 200_000
	sharedEvents = 300_000
)

// add sends a name count times.
func (s *Stream) add(name []byte, count int64) {
	for range count {
		s.sent.Offset++
		s.AddName(s.sent, name)
	}
}

// claim returns the told probability of one name of a unit, rounded up.
func claim(g protection.Guarantee) float64 {
	return g.Told / float64(g.Unit.StepEvents()) * (1 + 0x1p-50)
}

// Lonely closes steps of names that one person each wrote, until there were enough or the time is over. So many as pass
// may not refute, at confidence 1 − alpha, that a name passes with the probability of the claim.
func (s *Stream) Lonely(names int, deadline time.Time, alpha float64) subject.Check {
	passed, all := 0, 0
	for all == 0 || all < names && before(deadline) {
		step := min(lonelyNames, names-all)
		for i := range step {
			s.add(strconv.AppendInt(nil, int64(i), 36), 1)
		}
		s.Close()
		passed, all = passed+len(s.Listed()), all+step
	}
	low, claimed := bound.Lower(passed, all, alpha), claim(s.Guarantee())
	return subject.Check{
		Name: "lonely names", Looked: "names of one person each", Count: uint64(all), Bound: true, Holds: low <= claimed,
		Found: fmt.Sprintf("%d are published: a probability of at least %.3g, claimed %.3g", passed, low, claimed),
	}
}

// Shared is the result of guesses about units whose names others have too.
type Shared struct {
	subject.Check
	Least, Claim float64 // bound on ε, or on µ for normal noise, and the claim
}

// Shared plays units of m names each, whose names others have too. A coin decides whether a unit is present; the attack
// guesses it from the list. The right guesses bound ε, or µ for normal noise, from below.
//
// With Laplace noise others have M of each name. Then a name is published if n ≥ 1 without the unit, and if n ≥ 0 with
// it, which is e^(1/s) times as likely. The attack guesses "present" if all names are published, "absent" if none is,
// and otherwise nothing. With normal noise others have so many that all names are published, and it guesses by the sum.
func (s *Stream) Shared(units int, deadline time.Time, alpha float64) Shared {
	law, g := s.Names(), s.Guarantee()
	m, others := int64(g.Unit.StepEvents()), law.Max
	if g.Mu > 0 {
		others = law.Threshold + law.Max
	}
	right, guesses, all := 0, 0, 0
	for all == 0 || all < units && before(deadline) {
		step := min(max(1, sharedEvents/int(m*others)), units-all)
		present := make([]bool, step)
		for i := range step {
			present[i] = s.Random.IntN(2) == 1
			for name := range m {
				text := fmt.Appendf(nil, "%d %d", i, name)
				if s.add(text, others); present[i] {
					s.add(text, 1)
				}
			}
		}
		s.Close()
		seen, sum := make([]int64, step), make([]float64, step)
		for _, l := range s.Listed() {
			i, _, _ := strings.Cut(string(l.Name), " ")
			at, err := strconv.Atoi(i)
			if err != nil {
				panic("BUG: presence: a stream lists a name that it was not given")
			}
			seen[at]++
			sum[at] += float64(l.Count-others) - 0.5
		}
		for i, there := range present {
			guess := sum[i] > 0
			if g.Mu == 0 {
				if guess = seen[i] == m; !guess && seen[i] > 0 {
					continue
				}
			}
			if guesses++; guess == there {
				right++
			}
		}
		all += step
	}
	r := Shared{
		Check: subject.Check{
			Name: "shared names", Looked: "units, present or absent, whose names others have too", Count: uint64(all),
			Bound: true,
		},
		Least: bound.Epsilon(right, guesses, all, g.Told, alpha), Claim: g.Epsilon,
	}
	symbol := "ε"
	if g.Mu > 0 {
		r.Least, r.Claim, symbol = max(0, bound.Mu(right, all, alpha)), g.Mu, "µ"
	}
	r.Holds = r.Least <= r.Claim && !math.IsNaN(r.Least)
	r.Found = fmt.Sprintf("%d of %d guesses are right: %s of at least %.3g, claimed %.3g", right, guesses, symbol, r.Least, r.Claim)
	return r
}

// before reports whether a deadline, if there is one, is not over.
func before(deadline time.Time) bool { return deadline.IsZero() || time.Now().Before(deadline) }
