package pairs

import (
	"math"
	"math/rand/v2"
	"strconv"

	"oriel/cmd/internal/audit/subject"
	"oriel/schemas/event"
)

// mostCount bounds how far above its minimum a random count may be. For example, a random number of arms stays below
// the largest allowed number.
const mostCount = 4

// anyEvent draws a random event that the decoder could return, of any cell, type or arm. Bounded numbers are within
// their bounds; other numbers have the magnitude of the numbers in the event like.
func anyEvent(a *subject.Subject, rng *rand.Rand, like event.Event) event.Event {
	e, number := event.Event{Weight: 1}, 0
	for _, m := range a.Events.Body.Members {
		switch m.Kind {
		case event.KindVector, event.KindFeatures, event.KindRelatives:
			e.Vector.Values = make([]float64, a.Events.Dimension)
			size := math.Exp2(float64(rng.IntN(24) - 12))
			for i := range e.Vector.Values {
				x := float64(size * rng.NormFloat64())
				if m.Kind == event.KindRelatives || m.Least == 0 && m.Most > 0 {
					x = math.Abs(x)
				}
				if m.Most > m.Least {
					x = max(m.Least, min(m.Most, x))
				}
				e.Vector.Values[i] = x
			}
		case event.KindClass:
			e.Label = float64(1 - 2*rng.IntN(2))
		case event.KindTarget:
			e.Label = anyNumber(rng, like.Label)
		case event.KindWeight:
			e.Weight = math.Abs(anyNumber(rng, like.Weight))
		case event.KindNumber, event.KindCount, event.KindChoice:
			e.Numbers = append(e.Numbers, anyMember(rng, m, like, number))
			number++
		case event.KindName:
			e.Name = []byte("name" + strconv.Itoa(rng.IntN(mostCount)))
		}
	}
	return e
}

// anyMember draws a random value for number, one of the numbers of an event's member.
func anyMember(rng *rand.Rand, m event.Member, like event.Event, number int) float64 {
	switch {
	case m.Kind == event.KindChoice:
		return float64(rng.IntN(len(m.Choices)))
	case m.Kind == event.KindCount && m.Most > m.Least:
		return m.Least + float64(rng.IntN(int(min(m.Most-m.Least, mostCount))+1))
	case m.Most > m.Least:
		return m.Least + float64((m.Most-m.Least)*rng.Float64())
	case number < len(like.Numbers):
		return anyNumber(rng, like.Numbers[number])
	}
	return anyNumber(rng, 1)
}

// anyNumber draws a random number of the magnitude of like.
func anyNumber(rng *rand.Rand, like float64) float64 {
	if !(math.Abs(like) > 0) {
		like = 1
	}
	return float64(like * (4*rng.Float64() - 1))
}
