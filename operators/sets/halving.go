package sets

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"oriel/mechanisms"
)

// halvingRule is sequential halving (Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed bandits",
// ICML 2013) at each position of the greedy set in turn.
type halvingRule struct {
	config    Config
	set       []int  // the set so far, then the element that the round tries
	chosen    int    // number of elements of the set that are final
	remaining []int  // elements that may come next, in the order of the list
	cursor    int    // index in remaining of the element to try next
	cut       int    // number of halvings at this position
	stage     uint32 // number of positions so far, in all epochs; answers to rounds of earlier positions are ignored
	round     uint64 // number of published rounds in this epoch
	tried     []trial
}

// trial holds the results of rounds in which an element followed the set so far.
type trial struct {
	rounds, answers uint64
	sum             float64
}

func newHalving(c Config) *halvingRule {
	h := &halvingRule{config: c, set: make([]int, c.Pick), tried: make([]trial, len(c.Elements))}
	h.begin()
	return h
}

// begin starts an epoch with an empty set.
func (h *halvingRule) begin() {
	h.chosen, h.round = 0, 0
	h.position()
}

// position starts the search for the next element of the set: all other elements remain.
func (h *halvingRule) position() {
	h.remaining, h.cursor, h.cut = h.remaining[:0], 0, 0
	for element := range h.tried {
		h.tried[element] = trial{}
		if !slices.Contains(h.set[:h.chosen], element) {
			h.remaining = append(h.remaining, element)
		}
	}
	h.stage++
}

// next tries the remaining elements in turn.
func (h *halvingRule) next(*mechanisms.Stream) ([]int, playedRound) {
	if h.config.Epoch > 0 && h.round == h.config.Epoch {
		h.begin()
	}
	h.round++
	if h.chosen == len(h.set) {
		return h.set, playedRound{cell: -1, stage: h.stage}
	}
	element := h.remaining[h.cursor]
	h.cursor = (h.cursor + 1) % len(h.remaining)
	h.set[h.chosen] = element
	return h.set[:h.chosen+1], playedRound{cell: int32(element), stage: h.stage}
}

// rounds returns the total number of rounds in which an element must have been tried before halving cut+1 at a
// position.
func (c Config) rounds(cut int) uint64 { return c.Tries * (1<<(cut+1) - 1) }

func (h *halvingRule) learn(_ *mechanisms.Stream, p playedRound, answers int, sum float64) {
	if p.cell < 0 || p.stage != h.stage {
		return
	}
	t := &h.tried[p.cell]
	t.rounds++
	if answers > 0 { // without answers the release is only noise
		t.answers, t.sum = t.answers+uint64(answers), t.sum+sum
	}
	need := h.config.rounds(h.cut)
	for _, element := range h.remaining {
		if h.tried[element].rounds < need {
			return
		}
	}
	h.halve()
}

// mean returns the released mean value of the set so far followed by the element. If the element has no answer, it
// returns the least number.
func (t trial) mean() float64 {
	if t.answers == 0 {
		return math.Inf(-1)
	}
	return t.sum / float64(t.answers)
}

// halve keeps the better half of the remaining elements, the first in the list among equals. If one element is left, it
// is added to the set.
func (h *halvingRule) halve() {
	best := slices.Clone(h.remaining)
	slices.SortStableFunc(best, func(a, b int) int {
		switch x, y := h.tried[a].mean(), h.tried[b].mean(); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	best = best[:(len(best)+1)/2]
	slices.Sort(best)
	h.remaining, h.cursor, h.cut = append(h.remaining[:0], best...), 0, h.cut+1
	if len(h.remaining) > 1 {
		return
	}
	h.set[h.chosen] = h.remaining[0]
	h.chosen++
	h.position()
}

// explores returns the number of rounds in which an epoch tries elements, if there is no delay.
func (c Config) explores() uint64 {
	all := uint64(0)
	for position := range c.Pick {
		n, cut := uint64(len(c.Elements)-position), 0
		for before := uint64(0); n > 1; cut++ {
			high, low := bits.Mul64(n, c.rounds(cut)-before)
			if high > 0 || low > math.MaxUint64>>1-all {
				return math.MaxUint64 >> 1
			}
			all, before = all+low, c.rounds(cut)
			n = (n + 1) / 2
		}
	}
	return all
}

// A state of the rule has fixed length, little-endian: found u32, k elements of the set u32, N bytes 0 or 1 for the
// remaining elements, cursor u32, halvings u32, stage u32, round u64. For each element rounds u64, answers u64 and sum
// f64 follow.
func (h *halvingRule) StateLen() int {
	return 4 + 4*len(h.set) + len(h.tried) + 3*4 + 8 + 24*len(h.tried)
}

func (h *halvingRule) AppendState(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(h.chosen))
	for i, element := range h.set {
		if i >= h.chosen {
			element = 0 // not stored, because other fields determine the element to try next
		}
		dst = binary.LittleEndian.AppendUint32(dst, uint32(element))
	}
	at := len(dst)
	dst = append(dst, make([]byte, len(h.tried))...)
	for _, element := range h.remaining {
		dst[at+element] = 1
	}
	for _, x := range [...]uint32{uint32(h.cursor), uint32(h.cut), h.stage} {
		dst = binary.LittleEndian.AppendUint32(dst, x)
	}
	dst = binary.LittleEndian.AppendUint64(dst, h.round)
	for _, t := range h.tried {
		for _, x := range [...]uint64{t.rounds, t.answers, math.Float64bits(t.sum)} {
			dst = binary.LittleEndian.AppendUint64(dst, x)
		}
	}
	return dst
}

func (h *halvingRule) Restore(state []byte) error {
	other := newHalving(h.config)
	word := func() (x uint32) {
		x, state = binary.LittleEndian.Uint32(state), state[4:]
		return x
	}
	other.chosen = int(word())
	if other.chosen > len(other.set) {
		return errState
	}
	for i := range other.set {
		other.set[i] = int(word())
		if other.set[i] >= len(other.tried) || i < other.chosen && slices.Contains(other.set[:i], other.set[i]) {
			return errState
		}
	}
	other.remaining = other.remaining[:0]
	for element, is := range state[:len(other.tried)] {
		if is > 1 || is == 1 && slices.Contains(other.set[:other.chosen], element) {
			return errState
		}
		if is == 1 {
			other.remaining = append(other.remaining, element)
		}
	}
	state = state[len(other.tried):]
	next, cut := word(), word()
	other.stage = word()
	if int(next) >= max(1, len(other.remaining)) || cut > 12 || len(other.remaining) < 1 {
		return errState
	}
	other.cursor, other.cut = int(next), int(cut)
	other.round, state = binary.LittleEndian.Uint64(state), state[8:]
	for i := range other.tried {
		t := trial{
			rounds: binary.LittleEndian.Uint64(state), answers: binary.LittleEndian.Uint64(state[8:]),
			sum: math.Float64frombits(binary.LittleEndian.Uint64(state[16:])),
		}
		if math.IsNaN(t.sum) || math.IsInf(t.sum, 0) || t.answers > 1<<53 || t.rounds > 1<<53 {
			return errState
		}
		other.tried[i], state = t, state[24:]
	}
	*h = *other
	return nil
}
