package sets

import (
	"encoding/binary"
	"fmt"
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
	"oriel/operators"
)

// expertsRule is Algorithm 3 (BanditDP) of the source paper, see SPEC.md: k experts with exponential weights, and
// explorations in rounds that do not depend on events. The stream holds the experts' sums and makes draws with
// probabilities from them.
type expertsRule struct {
	config Config
	rates  rates
	last   uint64 // last round whose answers the rule can still learn from

	set      []int  // the set that was drawn last
	round    uint64 // number of published rounds
	explored uint64 // number of rounds that have explored
	probe    []int  // scratch: the set of an exploration
	zeros    []int64
	coin     [2]int64
}

func newExperts(c Config, r rates, stream *mechanisms.Stream) (*expertsRule, error) {
	if stream.End() != c.Horizon || c.Actions.Delay >= c.Horizon {
		return nil, fmt.Errorf("sets: a stream of %d steps and a delay of %d, and settings of %d steps", stream.End(),
			c.Actions.Delay, c.Horizon)
	}
	return &expertsRule{
		config: c, rates: r, last: c.Horizon - c.Actions.Delay, set: make([]int, c.Pick), probe: make([]int, c.Pick),
		zeros: make([]int64, len(c.Elements)),
	}, nil
}

// next plays the set that was drawn last, or explores. An exploration plays the first i elements of the set followed
// by another element; i from 0 to k−1 and the other element are drawn uniformly. The first set is drawn uniformly, too.
func (e *expertsRule) next(stream *mechanisms.Stream) ([]int, playedRound) {
	if e.round++; e.round == 1 {
		for i := range e.set {
			e.set[i] = e.any(stream, len(e.zeros))
		}
	}
	if e.round > e.last || e.explored == e.rates.explorations || !e.explores(stream) {
		return e.set, playedRound{cell: -1}
	}
	e.explored++
	i, element := e.any(stream, len(e.set)), e.any(stream, len(e.zeros))
	copy(e.probe, e.set[:i])
	e.probe[i] = element
	return e.probe[:i+1], playedRound{cell: int32(i*len(e.zeros) + element)}
}

// any draws a number below n uniformly.
func (e *expertsRule) any(stream *mechanisms.Stream, n int) int {
	if n > len(e.zeros) {
		panic("BUG: sets: more positions than elements")
	}
	return stream.Choose(0, e.zeros[:n], operators.ByProbabilities)
}

// explores tosses the coin that decides whether a round explores.
func (e *expertsRule) explores(stream *mechanisms.Stream) bool {
	p := e.rates.share
	if !e.config.Capped { // a fixed number of rounds explores; this is the share of the remaining rounds
		p = float64(e.rates.explorations-e.explored) / float64(e.last-e.round+1)
	}
	if p >= 1 || e.config.early {
		return true
	}
	e.coin = [2]int64{operators.ProbabilityScore(1 - p), operators.ProbabilityScore(p)}
	return stream.Choose(0, e.coin[:], operators.ByProbabilities) == 1
}

// learn draws all elements anew after each exploration. The stream already holds the answers of the round.
func (e *expertsRule) learn(stream *mechanisms.Stream, p playedRound, _ int, _ float64) {
	if p.cell < 0 {
		return
	}
	for i := range e.set {
		e.set[i] = stream.Draw(i*len(e.zeros), (i+1)*len(e.zeros))
	}
}

// A state of the rule has fixed length, little-endian: k elements of the set u32, round u64, explored u64.
func (e *expertsRule) StateLen() int { return 4*len(e.set) + 16 }

func (e *expertsRule) AppendState(dst []byte) []byte {
	for _, element := range e.set {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(element))
	}
	dst = binary.LittleEndian.AppendUint64(dst, e.round)
	return binary.LittleEndian.AppendUint64(dst, e.explored)
}

func (e *expertsRule) Restore(state []byte) error {
	set := make([]int, len(e.set))
	for i := range set {
		set[i] = int(binary.LittleEndian.Uint32(state[4*i:]))
		if set[i] >= len(e.zeros) {
			return errState
		}
	}
	round, explored := binary.LittleEndian.Uint64(state[4*len(set):]), binary.LittleEndian.Uint64(state[4*len(set)+8:])
	if explored > min(e.rates.explorations, round) {
		return errState
	}
	e.set, e.round, e.explored = set, round, explored
	return nil
}

// cellQuantiser is the Quantiser of results of explorations. The contribution is the reward, clamped to [−½, ½], at its
// cell, and 0 elsewhere. The inputs are the cell and the reward. A number that is no cell, or a reward NaN, gives the
// zero contribution. The distance of two contributions is largest if both are at the same cell.
type cellQuantiser struct{ Cells int }

// Entries returns 2: cell and reward.
func (cellQuantiser) Entries() int { return 2 }

func (c cellQuantiser) Component() contribution.Component {
	return contribution.Component{Name: "cells", Size: c.Cells, Clip: half, Quantiser: c}
}

// Distances returns the squares of 1 (replace) and ½ (zero-out), in squared units of the grid.
func (cellQuantiser) Distances(g lattice.Grid) (replace, zeroOut lattice.Int128) {
	return lattice.Square(2 * g.Lambda), lattice.Square(g.Lambda)
}

// Bound returns the largest absolute value of an integer, which stands for ½.
func (cellQuantiser) Bound(g lattice.Grid) int64 { return g.Lambda }

// Quantise rounds the reward to the nearest lattice point, and clamps the integer.
func (c cellQuantiser) Quantise(g lattice.Grid, dst []int64, v []float64) {
	at, x := v[0], v[1]
	if !(at >= 0 && at < float64(c.Cells)) || at != math.Floor(at) || math.IsNaN(x) {
		return
	}
	n := int64(math.Floor(max(-1, min(1, x))/g.Unit() + 0.5))
	dst[int(at)] = max(-g.Lambda, min(g.Lambda, n))
}
