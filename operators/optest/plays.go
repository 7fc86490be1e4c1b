package optest

import (
	"math/rand/v2"
	"strconv"

	"oriel/operators/plays"
	"oriel/schemas"
)

// PlayKey is the key of a record at a place: of a play that is open, of another one, or of none.
func PlayKey(c plays.Config, place int) []byte {
	switch place % 7 {
	case 3:
		return []byte("nobody")
	case 5:
		place++ // somebody else's
	}
	step := uint64(place/c.Records) + 1
	return strconv.AppendUint(nil, c.First(step)+uint64(place%c.Plays), 10)
}

// Answers are so many events of one number, all alike between two ends.
func Answers(n int, low, high float64) []schemas.Event {
	rng := rand.New(rand.NewPCG(4, 4))
	events := make([]schemas.Event, n)
	for i := range events {
		events[i] = schemas.Event{Numbers: []float64{(high-low)*rng.Float64() + low}}
	}
	return events
}
