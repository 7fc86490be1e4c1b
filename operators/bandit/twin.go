package bandit

import (
	"math"
	"slices"
	"strconv"

	"oriel/operators"
	"oriel/schemas"
)

// twin is the operators.Twin of a machine: it knows the plays that were published, as whoever reads them does, and
// finds each one's direction from the others of its round.
type twin struct {
	Config

	plan    Plan
	records uint64
	round   map[uint64]uint64    // of each published play, its round
	points  map[uint64][]float64 // their directions
	used    map[uint64]bool
	answers map[uint64][]given // of each round, in their order
}

type given struct {
	play  uint64
	value float64
}

func (t *twin) Begin() {
	t.records = 0
	t.round, t.points = map[uint64]uint64{}, map[uint64][]float64{}
	t.used, t.answers = map[uint64]bool{}, map[uint64][]given{}
}

func (t *twin) Decided(decisions []operators.Decision) {
	for _, d := range decisions {
		e, _ := t.episodeOf(d.Step + 1)
		t.round[d.Index], t.points[d.Index] = d.Step+1, slices.Clone(d.Point)
		for i, x := range d.Extras[0].Numbers {
			t.points[d.Index][i] = (t.points[d.Index][i] - x) / t.plan.Episodes[e].Smoothing
		}
	}
}

// Leaf takes the direction of a play from what was published of it.
func (t *twin) Leaf(dst []float64, r operators.Record) bool {
	step, place := t.records/uint64(t.Plays.Records)+1, int(t.records%uint64(t.Plays.Records))
	t.records++
	play, err := strconv.ParseUint(string(r.Key), 10, 64)
	round, published := t.round[play]
	open := err == nil && published && strconv.FormatUint(play, 10) == string(r.Key) && !t.used[play] &&
		step-round < max(1, t.Plays.Delay) && len(t.answers[round]) < t.Plays.Records
	if open {
		t.used[play] = true
		t.answers[round] = append(t.answers[round], given{play, t.mapped(r)})
	}
	adds := given{value: math.NaN()}
	switch settled := t.answers[step-min(step, t.Plays.Delay)]; {
	case t.Plays.Delay == 0 && open:
		adds = settled[len(settled)-1]
	case t.Plays.Delay > 0 && step > t.Plays.Delay && place < len(settled):
		adds = settled[place]
	}
	if math.IsNaN(adds.value) {
		return false
	}
	n, middle := len(dst)/2, 1-float64(2*t.Baseline)
	for i, u := range t.points[adds.play] {
		dst[i], dst[n+i] = float64((adds.value+middle)*u), float64(middle*u)
	}
	return true
}

// Canary is of a play along the coordinate that u is.
func (t *twin) Canary(u []float64, factor float64) (with, without operators.Record) {
	n := uint64(t.Set.Dimension())
	axis := slices.IndexFunc(u[:n], func(x float64) bool { return x != 0 })
	step, place := t.records/uint64(t.Plays.Records)+1, t.records%uint64(t.Plays.Records)
	play := t.Plays.First(step) + place*n + uint64(axis)
	middle, half := (t.Low+t.High)/2, (t.High-t.Low)/2
	record := func(sign float64) operators.Record {
		loss := middle + float64(float64(float64(sign*u[axis]*half)*factor)*operators.Beyond)
		return operators.Record{
			Key: strconv.AppendUint(nil, play, 10), Event: schemas.Event{Numbers: []float64{loss}},
		}
	}
	return record(1), record(-1)
}

// Direct leaves the largest coordinate: an audit's plays go along these (Config.axes).
func (t *twin) Direct(u []float64) {
	largest := 0
	for i, x := range u[:t.Set.Dimension()] {
		if math.Abs(x) > math.Abs(u[largest]) {
			largest = i
		}
	}
	for i := range u {
		if i != largest {
			u[i] = 0
		}
	}
}
