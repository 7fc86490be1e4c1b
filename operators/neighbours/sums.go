package neighbours

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/audit/definition"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// These limits bound how long the sums are played without a machine.
const (
	maxNumbers = 1 << 16 // largest product of steps and coordinates
	maxSteps   = 1 << 12
	aboutReset = 4 // number of steps before a reset, and after it
)

// resets numbers the resets around which the sums are played.
var resets = []uint64{1, 2, 5}

// CheckSums plays the sums of the calibration without a machine, around the ends of blocks. It makes three comparisons
// of two runs. In the first, one of two streams of null events contains an event at the largest distance that the unit
// allows. In the second, all noise differs, and releases must differ by the noise that they contain. In the third, the
// noise before a reset differs, and releases after it must be equal.
func (s *Subject) CheckSums() (fault string, err error) {
	f, err := s.frame()
	if err != nil || !f.prefix {
		return "", err
	}
	if fault, err = f.acrossBlocks(); fault != "" || err != nil {
		return fault, err
	}
	if fault, err = f.allNoise(); fault != "" || err != nil {
		return fault, err
	}
	memory, decays := s.Mechanism.Scope.Memory()
	if !decays {
		return "", nil
	}
	for _, reset := range resets {
		if fault, err = f.acrossReset(reset * decay.Period(memory)); fault != "" || err != nil {
			return fault, err
		}
	}
	return "", nil
}

// sums holds the sums of one run. It starts after a number of steps that add nothing to the sums.
type sums struct {
	*run
	taps  []mechanisms.Sum
	chain *noise.Chain
}

func (f *frame) sums(r *run) (*sums, error) {
	player := &player{run: r}
	taps, err := f.Sums(player)
	if err != nil {
		return nil, err
	}
	for k, sum := range taps {
		if r.recorded.before > 0 {
			state := sum.AppendState(nil)
			binary.LittleEndian.PutUint64(state, r.recorded.before) // every state begins with the number of its step
			if err := sum.Restore(state); err != nil {
				return nil, fmt.Errorf("neighbours: sums at step %d: %w", r.recorded.before, err)
			}
		}
		taps[k] = &tap{Sum: sum, player: player, component: k}
	}
	return &sums{r, taps, noise.NewChain(f.Key)}, nil
}

// step adds the contributions of a step, by component.
func (s *sums) step(contributions [][]int64) {
	step := s.taps[0].Steps() + 1
	s.chain.Absorb(identityOf(int(step)), slices.Concat(contributions...))
	s.chain.Close(step)
	for k, sum := range s.taps {
		v := make([]lattice.Int128, len(contributions[k]))
		for i, x := range contributions[k] {
			v[i] = v[i].AddInt64(x)
		}
		sum.Add(make([]float64, len(v)), v, s.chain)
	}
	s.chain.Drawn()
}

// contributions returns, by component, a contribution as long as an exchange may change it, or zeros.
func (f *frame) contributions(exchanged bool) [][]int64 {
	var all [][]int64
	for k, component := range f.components {
		v := make([]int64, component.To-component.From)
		if exchanged {
			each := max(1, int64(root(f.claimed[k])/math.Sqrt(float64(len(v)))*(1-0x1p-40)))
			for i := range v {
				v[i] = each - 2*each*int64(i%2)
			}
			if each == 1 {
				clear(v[1:])
			}
		}
		all = append(all, v)
	}
	return all
}

// steps returns how many steps the sums are played for: two blocks, if blocks are short.
func (f *frame) steps() uint64 {
	most := max(aboutReset, uint64(maxNumbers/f.Mechanism.Dimension()))
	return max(1, min(2*f.Mechanism.Scope.Span()+2, maxSteps, most, f.Mechanism.Scope.End()))
}

// acrossBlocks compares streams that differ by an event in the first step, and by events at the ends of the first
// block.
func (f *frame) acrossBlocks() (fault string, err error) {
	span, steps := f.Mechanism.Scope.Span(), f.steps()
	recorded := &recording{}
	if _, err := f.nullRun(recorded, steps, 0, 0); err != nil {
		return "", err
	}
	for _, at := range []uint64{1, span, span + 1} {
		if at < 1 || at > steps {
			continue
		}
		r, err := f.nullRun(recorded, steps, at, 0)
		if err != nil {
			return "", err
		}
		if r.finish([]uint64{at}); r.fault != "" {
			return "sums alone: " + r.fault, nil
		}
	}
	return "", nil
}

// louder is the amount by which all noise of a run is increased.
const louder = 1 << 24

// allNoise plays two recordings whose noise differs by a constant. Releases must differ by that constant times the
// noise weight of the release, which is its noise if all draws are 1. This detects noise that is omitted, or missing
// from later releases.
func (f *frame) allNoise() (fault string, err error) {
	var both [2]*recording
	for i := range both {
		both[i] = &recording{}
		if _, err := f.nullRun(both[i], f.steps(), 0, int64(i*louder)); err != nil {
			return "", err
		}
	}
	steps := len(both[0].steps)
	for t, weight := range definition.NoiseOf(f.Mechanism, f.Calibration, steps).Weights(steps) {
		want := float64(louder * weight)
		for k, x := range both[0].steps[t] {
			unit := f.components[k].Grid.Unit()
			for i, release := range both[1].steps[t][k].release {
				got := (release - x.release[i]) / unit
				size := (math.Abs(release) + math.Abs(x.release[i])) / unit
				if !(math.Abs(got-want) <= float64(want*0x1p-12)+float64(size*0x1p-51)) {
					return fmt.Sprintf("sums alone: step %d: the release of coordinate %d holds %.6g times the noise, by definition %.6g",
						t+1, i+1, got/louder, weight), nil
				}
			}
		}
	}
	return "", nil
}

// nullRun plays null events, with one event in step number at, or no event if at is 0. In a recording, all noise is
// increased by shift units.
func (f *frame) nullRun(recorded *recording, steps, at uint64, shift int64) (*run, error) {
	r := f.run(recorded)
	r.script.shift = shift
	s, err := f.sums(r)
	if err != nil {
		return nil, err
	}
	for t := uint64(1); t <= steps; t++ {
		s.step(f.contributions(t == at))
	}
	return r, nil
}

// acrossReset plays two recordings with different noise in a step before a reset.
func (f *frame) acrossReset(reset uint64) (fault string, err error) {
	var both [2]*recording
	for i := range both {
		both[i] = &recording{before: reset - aboutReset}
		r := f.run(both[i])
		s, err := f.sums(r)
		if err != nil {
			return "", err
		}
		for t := range uint64(2 * aboutReset) {
			if r.script.shift = 0; i == 1 && t == 1 {
				r.script.shift = 1 << 12
			}
			s.step(f.contributions(false))
		}
	}
	for t, parts := range both[0].steps {
		step, same := reset-aboutReset+uint64(t)+1, true
		for k, x := range parts {
			same = same && slices.Equal(x.increments, both[1].steps[t][k].increments)
		}
		switch {
		case step > reset && !same:
			return fmt.Sprintf("sums alone: step %d adds noise from before the reset after step %d", step, reset), nil
		case t > 0 && step <= reset && same:
			return fmt.Sprintf("sums alone: step %d owes nothing to the noise of steps before it", step), nil
		}
	}
	return "", nil
}
