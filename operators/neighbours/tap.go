package neighbours

import (
	"fmt"
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// fill is a noise vector that was drawn, with its seed.
type fill struct {
	seed   noise.Seed
	values []int64
}

// script is the noise of a run. A recording draws from the samplers of the calibration; a replay repeats the recorded
// vectors in order.
type script struct {
	samplers  []noise.Sampler
	component int // component of the sum that draws
	fills     []fill
	want      []fill // in a replay, the recorded vectors of the same step and component
	replays   bool
	shift     int64 // added to each number
	restores  bool  // a sum is being restored, and may draw noise a second time
	drawn     map[noise.Seed][]int64
}

// player is a machine that plays one run after the other.
type player struct {
	run     *run
	machine Machine
	start   []byte // state of the machine before any record
}

// Fill implements noise.Sampler with the script of the run.
func (s *player) Fill(dst []int64, seed noise.Seed) { s.run.script.fill(dst, seed) }

func (s *script) fill(dst []int64, seed noise.Seed) {
	if values, known := s.drawn[seed]; s.restores && known && len(values) == len(dst) {
		copy(dst, values)
		return
	}
	switch at := len(s.fills); {
	case !s.replays && s.samplers[s.component] != nil:
		s.samplers[s.component].Fill(dst, seed)
		for i := range dst {
			dst[i] += s.shift
		}
	case at < len(s.want) && len(s.want[at].values) == len(dst):
		copy(dst, s.want[at].values)
	default:
		clear(dst)
	}
	s.fills = append(s.fills, fill{seed, slices.Clone(dst)})
	s.drawn[seed] = s.fills[len(s.fills)-1].values
}

// tap is a private sum of a run. In a recording it records its inputs and outputs. In a replay it compares them, and
// releases the recorded outputs.
type tap struct {
	mechanisms.Sum
	player     *player
	component  int
	own        []float64        // in a replay, the release that the tap's own sum would make
	increments []lattice.Int128 // increments of the last release
}

var _ mechanisms.Incremental = (*tap)(nil)

// Add takes the contribution sum of a step.
func (t *tap) Add(dst []float64, v []lattice.Int128, chain *noise.Chain) {
	r := t.player.run
	s := r.script
	step := t.Steps() + 1
	s.component, s.fills, s.want = t.component, nil, nil
	if !s.replays {
		t.Sum.Add(dst, v, chain)
		t.increments = slices.Clone(t.inner())
		r.keep(step, t.component, componentStep{integers(v), slices.Clone(dst), t.increments, s.fills})
		return
	}
	want, some := r.recorded.at(step, t.component)
	if !some {
		r.refuse("step %d: the stream that was recorded has not closed it", step)
		t.Sum.Add(dst, v, chain)
		return
	}
	if t.own == nil {
		t.own = make([]float64, len(dst))
	}
	s.want = want.fills
	t.Sum.Add(t.own, v, chain)
	if !r.unlike {
		r.compare(step, t.component, want, componentStep{integers(v), t.own, t.inner(), s.fills})
	}
	copy(dst, want.release)
	t.increments = want.increments
}

// integers returns the contribution sum of a step in 64 bits, which no run here exceeds.
func integers(v []lattice.Int128) []int64 {
	out := make([]int64, len(v))
	for i, x := range v {
		out[i] = int64(x.Lo)
	}
	return out
}

// inner returns the increments of the sum, or nil if it has none.
func (t *tap) inner() []lattice.Int128 {
	if x, ok := t.Sum.(mechanisms.Incremental); ok {
		return x.Increments()
	}
	return nil
}

func (t *tap) Increments() []lattice.Int128 { return t.increments }

func (t *tap) Restore(state []byte) error {
	s := t.player.run.script
	s.component, s.restores = t.component, true
	defer func() { s.restores = false }()
	return t.Sum.Restore(state)
}

// checked returns a configuration whose quantisers are watched: a contribution that exceeds the quantiser's claim is
// reported.
func checked(c mechanisms.Config, s *player) mechanisms.Config {
	components := slices.Clone(c.Contribution.Components)
	for k, component := range components {
		watched := watchedQuantiser{component.Quantiser, s, k}
		switch component.Quantiser.(type) {
		case nil:
		case contribution.Bounded:
			components[k].Quantiser = watchedBounded{watched}
		case contribution.Absolute:
			components[k].Quantiser = watchedAbsolute{watched}
		default:
			components[k].Quantiser = watched
		}
	}
	c.Contribution.Components = components
	return c
}

// watchedQuantiser is a quantiser that compares its contributions with its own claim.
type watchedQuantiser struct {
	contribution.Quantiser
	player    *player
	component int
}

// Quantise calls the watched quantiser, and checks the contribution.
func (q watchedQuantiser) Quantise(g lattice.Grid, dst []int64, v []float64) {
	q.Quantiser.Quantise(g, dst, v)
	if _, zeroOut := q.Distances(g); zeroOut.Less(lattice.SquaredLength(dst)) {
		q.player.run.refuse("%sa contribution is longer than its quantiser says", q.player.run.component(q.component))
	}
}

// watchedBounded is a watchedQuantiser over a quantiser that also bounds single integers.
type watchedBounded struct{ watchedQuantiser }

// Bound returns the bound of the watched quantiser.
func (q watchedBounded) Bound(g lattice.Grid) int64 {
	return q.Quantiser.(contribution.Bounded).Bound(g)
}

// watchedAbsolute is a watchedQuantiser over a quantiser that also states ℓ1 distances and steps.
type watchedAbsolute struct{ watchedQuantiser }

// AbsoluteDistances returns the ℓ1 distances of the watched quantiser.
func (q watchedAbsolute) AbsoluteDistances(g lattice.Grid) (replace, zeroOut uint64) {
	return q.Quantiser.(contribution.Absolute).AbsoluteDistances(g)
}

// Steps returns the steps of the watched quantiser.
func (q watchedAbsolute) Steps(g lattice.Grid) []int64 {
	return q.Quantiser.(contribution.Absolute).Steps(g)
}

// Quantise calls the watched quantiser, and checks the contribution, also against the ℓ1 distance and the steps.
func (q watchedAbsolute) Quantise(g lattice.Grid, dst []int64, v []float64) {
	q.watchedQuantiser.Quantise(g, dst, v)
	if _, zeroOut := q.AbsoluteDistances(g); !contribution.Within(dst, 0, zeroOut, q.Steps(g)) {
		q.player.run.refuse("%sa contribution is longer than its quantiser says, or off its steps", q.player.run.component(q.component))
	}
}

// component returns the name of a component as text for faults, if there are several components.
func (r *run) component(k int) string {
	if len(r.frame.components) == 1 {
		return ""
	}
	return fmt.Sprintf("component %d: ", k)
}
