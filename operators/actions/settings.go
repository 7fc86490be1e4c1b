package actions

import (
	"math"
	"strconv"

	"oriel/operators"
	"oriel/operators/setting"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

const (
	maxActions = 1 << 20
	maxDelay   = 1 << 16
)

// Settings returns ORIEL_PLAYS and ORIEL_DELAY for an operator whose actions are published ahead. alike says in words
// which property the actions of a round share.
func Settings(alike string) []setting.Row {
	return []setting.Row{
		{
			Name: "PLAYS", Kind: setting.Count, Unit: "plays",
			Bounds: setting.From(0, maxActions), Range: "0, or ORIEL_BATCH to 1048576", Default: "0",
			Text: "plays that are published after each step, " + alike + ". 0: twice ORIEL_BATCH, so that half may stay " +
				"unanswered",
		},
		{
			Name: "DELAY", Kind: setting.Count, Unit: "steps", Bounds: setting.From(0, maxDelay), Default: "4",
			Text: "number of steps within which the answer to a play may come. The operator learns from the answers after these steps. 0: an answer counts only if it comes in the step of its play",
		},
	}
}

// Read reads ORIEL_PLAYS and ORIEL_DELAY.
func Read(v *setting.Values) Config {
	plays, delay := v.Count("PLAYS"), v.Count("DELAY")
	v.Want("PLAYS", plays == 0 || plays >= v.Batch, "%d: below ORIEL_BATCH=%d", plays, v.Batch)
	v.Want("BATCH", v.Batch <= maxActions/2, "%d: above %d", v.Batch, maxActions/2)
	if plays == 0 {
		plays = 2 * v.Batch
	}
	return Config{Records: int(v.Batch), Actions: int(plays), Delay: delay}
}

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
func Opposite(play uint64, r setting.Range, u, factor float64) (with, without operators.Record) {
	record := func(sign float64) operators.Record {
		return operators.Record{
			Key:   strconv.AppendUint(nil, play, 10),
			Event: event.Event{Numbers: []float64{r.Beyond(u, sign, float64(factor*operators.CanaryFactor))}},
		}
	}
	return record(1), record(-1)
}
