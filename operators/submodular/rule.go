package submodular

import (
	"math"
	"slices"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/schemas/event"
)

// rule computes decisions from releases, or by draws.
type rule interface {
	// contribution writes the contribution of an event, and returns false if the event is unusable in this deployment.
	contribution(dst []float64, e event.Event) bool
	// decide computes the newest decision from the releases of the stream, or by draws from it.
	decide(stream *mechanisms.Stream)
	// write writes the newest decision.
	write(dst []float64)
}

// newRule returns the rule of the settings, before any event. set is the machine's slice, to which rules that choose
// sets write.
func (c operator) newRule(p params, set []int, followed *operators.Means) (rule, error) {
	gains := marginalGains{
		eventReader: eventReader{operator: c, table: p.table, values: make([]float64, c.elements)}, set: set, means: followed,
	}
	switch c.rule {
	case byHistogram:
		return newHistogram(c, p.table, set), nil
	case byDraws:
		return &drawsRule{marginalGains: gains}, nil
	case byLeaders:
		return newLeaders(gains, p.regulariser)
	case byShares:
		return newShares(gains.eventReader, p, set)
	default:
		return &argmaxRule{gains}, nil
	}
}

// eventReader reads the value of each element to an event.
type eventReader struct {
	operator
	table  []float64 // values of each element to each type, from params
	values []float64 // scratch: values of the elements to the event
}

// read writes the values of an event, from its place or type, or from the event itself.
func (w *eventReader) read(e event.Event) bool {
	if len(w.types) == 0 {
		return w.readVector(e.Vector)
	}
	j := w.typeOf(e)
	if j >= 0 {
		copy(w.values, w.table[j*w.elements:][:w.elements])
	}
	return j >= 0
}

// readVector writes the values that an event contains, clamped to [0, 1].
func (w *eventReader) readVector(v event.Vector) bool {
	if v.Indices == nil && len(v.Values) != w.elements || v.Indices != nil && len(v.Values) != len(v.Indices) {
		return false
	}
	clear(w.values)
	for k, x := range v.Values {
		at := k
		if v.Indices != nil {
			at = int(v.Indices[k])
		}
		if at < 0 || at >= w.elements || !(math.Abs(x) <= math.MaxFloat64) {
			return false
		}
		w.values[at] = max(0, min(1, x))
	}
	return true
}

// typeOf returns the place of an event, or −1 if it has none.
func (c operator) typeOf(e event.Event) int {
	if len(e.Numbers) != 1 || !(e.Numbers[0] >= 0 && e.Numbers[0] < float64(len(c.types))) {
		return -1
	}
	return int(e.Numbers[0])
}

// marginalGains learns, at each position, the gain of each element given the elements before it in the newest set,
// which is public.
type marginalGains struct {
	eventReader
	set   []int
	means *operators.Means // nil: decisions follow the newest sums
}

// followed returns the sums of a position that decisions use.
func (p *marginalGains) followed(stream *mechanisms.Stream, position int) []float64 {
	all := stream.Sum(0)
	if p.means != nil {
		all = p.means.Sums
	}
	return all[position*p.elements:][:p.elements]
}

// contribution writes gains minus their centre, position by position.
func (p *marginalGains) contribution(dst []float64, e event.Event) bool {
	if !p.read(e) {
		return false
	}
	before, centre := 0.0, p.centre()
	for i, element := range p.set {
		gains := dst[i*p.elements:][:p.elements]
		for a, v := range p.values {
			gains[a] = p.function.gain(before, v, p.pick) - centre
		}
		for _, in := range p.set[:i] {
			gains[in] = -centre // an element that is in the set adds no gain
		}
		if !slices.Contains(p.set[:i], element) { // only draws can repeat elements
			before = p.function.with(before, p.values[element], p.pick)
		}
	}
	return true
}

func (p *marginalGains) write(dst []float64) { writeSet(dst, p.set) }

// writeSet writes the elements of the set as numbers.
func writeSet(dst []float64, set []int) {
	for i, element := range set {
		dst[i] = float64(element)
	}
}

// argmaxRule takes at each position the element with the largest gain in the sums that it follows.
type argmaxRule struct{ marginalGains }

func (a *argmaxRule) decide(stream *mechanisms.Stream) {
	for i := range a.set {
		a.set[i] = bestOther(a.followed(stream, i), a.set[:i])
	}
}

// meansShare sets how many steps means cover: mostly the newest 1/24 of the weight of the sums (SPEC.md, Means). A mean
// would give the same sets if a constant were subtracted from all its elements.
const meansShare = 24

// averages reports whether sets follow means. They do not with the bounded rate, whose proof requires the
// newest sums, and not with the printed rate.
func (c operator) averages() bool {
	return c.rule == byArgmax || c.rule == byLeaders && !c.bounded && !c.printed
}

// newMeans returns the means before the first step, or nil if decisions follow the newest sums.
func (c operator) newMeans(p params) *operators.Means {
	if !p.means {
		return nil
	}
	return operators.NewMeans(c.terms.Scope, meansShare, c.pick*c.elements)
}

// histogramRule counts the events of each public type, and takes the greedy set for the released counts.
type histogramRule struct {
	operator
	table  []float64
	greedy *greedy
	set    []int
	value  float64   // mean value of the set to an event, computed from the released counts
	counts []float64 // scratch: released counts by type
}

func newHistogram(c operator, table []float64, set []int) *histogramRule {
	return &histogramRule{
		operator: c, table: table, set: set, greedy: newGreedy(c.function, len(c.types), c.elements, c.pick),
		counts: make([]float64, len(c.types)),
	}
}

// contribution writes the type of the event.
func (h *histogramRule) contribution(dst []float64, e event.Event) bool {
	j := h.typeOf(e)
	dst[0] = float64(j)
	return j >= 0
}

func (h *histogramRule) decide(stream *mechanisms.Stream) {
	total := 0.0
	for j, x := range stream.Sum(0) {
		h.counts[j] = max(0, min(x, math.MaxFloat64/unit))
		total += h.counts[j]
	}
	set, value := h.greedy.weighted(h.table, h.counts)
	copy(h.set, set)
	h.value = 0
	if total > 0 {
		h.value = min(1, value/total)
	}
}

func (h *histogramRule) write(dst []float64) { writeSet(dst, h.set) }
