package actions

import (
	"math"
	"strconv"

	"oriel/operators"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// Publish appends the actions of a round. All of them have the same point.
func (c Config) Publish(
	dst []operators.Decision, round uint64, point []float64, extras []decision.ExtraValue,
) []operators.Decision {
	first := c.First(round)
	for k := range uint64(c.Actions) {
		dst = append(dst, operators.Decision{Index: first + k, Step: round - 1, Point: point, Extras: extras})
	}
	return dst
}

// Due returns the actions to publish at the end of a step: those of one round, and of the first round before any
// record.
func (c Config) Due(step uint64) (first uint64, count int) { return c.First(step + 1), c.Actions }

// Number returns the only number in a record's event, or NaN if the event has no number.
func Number(r operators.Record) float64 {
	if r.Null || len(r.Event.Numbers) != 1 {
		return math.NaN()
	}
	return r.Event.Numbers[0]
}

// Opposite returns two records that answer the same action, with the values u and −u in units of half the range, where
// |u| = 1. Both lie beyond the ends of the range by the given factor, as an audit requires.
func Opposite(play uint64, r operators.Range, u, factor float64) (with, without operators.Record) {
	record := func(sign float64) operators.Record {
		return operators.Record{
			Key:   strconv.AppendUint(nil, play, 10),
			Event: event.Event{Numbers: []float64{r.Beyond(u, sign, factor)}},
		}
	}
	return record(1), record(-1)
}
