package arms

import (
	"math"
	"strconv"

	"oriel/operators"
	"oriel/schemas"
)

// twin is the operators.Twin of a machine: it knows the plays that were published, as whoever reads them does, and
// keeps every record's answer in lists.
type twin struct {
	Config

	records uint64
	round   map[uint64]uint64    // of each published play, its round
	used    map[uint64]bool      // plays
	answers map[uint64][]float64 // of each round, in their order
}

func (t *twin) Begin() {
	t.records = 0
	t.round, t.used, t.answers = map[uint64]uint64{}, map[uint64]bool{}, map[uint64][]float64{}
}

func (t *twin) Decided(decisions []operators.Decision) {
	for _, d := range decisions {
		t.round[d.Index] = d.Step + 1
	}
}

func (t *twin) Leaf(dst []float64, r operators.Record) bool {
	step, place := t.records/uint64(t.Plays.Records)+1, int(t.records%uint64(t.Plays.Records))
	t.records++
	play, err := strconv.ParseUint(string(r.Key), 10, 64)
	round, published := t.round[play]
	open := err == nil && published && strconv.FormatUint(play, 10) == string(r.Key) && !t.used[play] &&
		step-round < max(1, t.Plays.Delay) && len(t.answers[round]) < t.Plays.Records
	if open {
		t.used[play] = true
		t.answers[round] = append(t.answers[round], t.mapped(r))
	}
	adds := math.NaN()
	switch settled := t.answers[step-min(step, t.Plays.Delay)]; {
	case t.Plays.Delay == 0 && open:
		adds = settled[len(settled)-1]
	case t.Plays.Delay > 0 && step > t.Plays.Delay && place < len(settled):
		adds = settled[place]
	}
	dst[0] = adds
	return !math.IsNaN(adds)
}

// Canary is of the first play of the newest round that is not used up. A loss beyond its range is clamped to it, and so
// are these.
func (t *twin) Canary(u []float64, factor float64) (with, without operators.Record) {
	first := t.Plays.First(t.records/uint64(t.Plays.Records) + 1)
	for t.used[first] {
		first++
	}
	middle, half := (t.Low+t.High)/2, (t.High-t.Low)/2
	record := func(sign float64) operators.Record {
		loss := middle + float64(float64(float64(sign*u[0]*half)*factor)*operators.Beyond)
		return operators.Record{
			Key: strconv.AppendUint(nil, first, 10), Event: schemas.Event{Numbers: []float64{loss}},
		}
	}
	return record(1), record(-1)
}

func (t *twin) Direct([]float64) {}
