package clock

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"oriel/schemas/decision"
)

// Stream identifies a stream of decisions.
type Stream struct {
	Name        string
	Incarnation [16]byte
}

// StreamOf returns the stream of a decision.
func StreamOf(d decision.Decision) Stream { return Stream{d.Stream, d.Incarnation} }

// Compare orders streams by name and incarnation.
func (s Stream) Compare(other Stream) int {
	return cmp.Or(cmp.Compare(s.Name, other.Name), slices.Compare(s.Incarnation[:], other.Incarnation[:]))
}

// Arrivals follows the steps and times of each stream's decisions, in the order of their arrival.
type Arrivals struct {
	Clock
	last          map[Stream]uint64
	courses       map[Stream]*course
	times         map[Stream][]int64 // times of decisions, ms; a time is the greatest timestamp of a step's records
	first, newest int64              // least and greatest time, ms
	step          int64              // length of steps by the clock, ms; 0: by count
}

// NewArrivals returns Arrivals without a decision.
func NewArrivals(c Clock) *Arrivals {
	return &Arrivals{
		Clock: c, last: map[Stream]uint64{}, courses: map[Stream]*course{}, times: map[Stream][]int64{},
		first: math.MaxInt64, newest: math.MinInt64,
	}
}

// Check refuses a decision that is not behind the newest one of its stream.
func (a *Arrivals) Check(d decision.Decision) error {
	if last, ok := a.last[StreamOf(d)]; ok && d.Step <= last {
		return fmt.Errorf("stream %q: step %d behind step %d: decisions come in their order, and once", d.Stream, d.Step, last)
	}
	return nil
}

// Interval returns the interval of a decision with a time, ms: the one that contains the time or, if the step is by the
// clock and so ends at the time, the one in which the step lies. It refuses a step that lies in several intervals.
func (a *Arrivals) Interval(d decision.Decision, ms int64) (key int64, err error) {
	length := d.StepMillis()
	if length < 0 {
		return 0, errors.New("member seconds: not the length of a step")
	}
	if length == 0 {
		return a.Key(ms), nil
	}
	if key = a.Key(ms - 1); a.Key(ms-length) != key {
		return 0, fmt.Errorf("the step from %s to %s does not lie within one interval: take an --every and a --timezone whose intervals "+
			"are made of whole steps", time.UnixMilli(ms-length).UTC().Format(Instant), time.UnixMilli(ms).UTC().Format(Instant))
	}
	return key, nil
}

// Follow adds a decision and the decision's time, ms. Times of steps by the clock are not times of records: none
// goes back, and none is odd.
func (a *Arrivals) Follow(d decision.Decision, ms int64) {
	of := StreamOf(d)
	a.last[of] = d.Step
	if length := d.StepMillis(); length > 0 {
		a.first, a.newest, a.step = min(a.first, ms-length), max(a.newest, ms-1), length
		return
	}
	if a.courses[of] == nil {
		a.courses[of] = &course{}
	}
	a.courses[of].add(ms)
	a.first, a.newest = min(a.first, ms), max(a.newest, ms)
	a.times[of] = append(a.times[of], ms)
}

// Bounds returns the bounds of an interval. For the single interval of all times, these are the time of the first
// decision and one millisecond after the newest.
func (a *Arrivals) Bounds(key int64) (start, end time.Time) {
	if a.Every > 0 {
		return a.Start(key), a.Start(key + 1)
	}
	zone := time.FixedZone("", int(a.Offset.Seconds()))
	return time.UnixMilli(a.first).In(zone), time.UnixMilli(a.newest + 1).In(zone)
}

// Steps returns the number of steps in an interval, or 0 if it is not known: steps are by count, or the interval is all
// times.
func (a *Arrivals) Steps() uint64 {
	if a.step == 0 {
		return 0
	}
	return uint64(a.Every.Milliseconds() / a.step)
}
