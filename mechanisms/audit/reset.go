package audit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/audit/definition"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// ErrReset means that noise from before a reset is still there after it.
var ErrReset = errors.New("audit: the contribution of a step after a reset depends on the noise before it")

// Steps that CheckReset plays before and after a reset.
const (
	filledSteps = 16 // steps whose noise fills the buffers; both streams share the noise of the last StepsBefore steps
	playedAfter = 16

	// StepsBefore is how many steps before a reset a run starts in order to cross it.
	StepsBefore = 2
)

// At changes start, the state of a stream before its first record, into its state after the given number of steps, as
// if these steps had left neither sums nor noise. So a run can start at any step.
func At(c mechanisms.Config, p mechanisms.Calibration, start []byte, steps uint64) ([]byte, error) {
	sums, err := p.SumsOver(c, zeroSampler{})
	if err != nil {
		return nil, err
	}
	state, all := slices.Clone(start), 0
	for _, sum := range sums {
		all += sum.StateLen()
	}
	if all > len(state) {
		return nil, fmt.Errorf("audit: a state of %d bytes does not match this calibration", len(start))
	}
	rest := state[len(state)-all:]
	for _, sum := range sums {
		binary.LittleEndian.PutUint64(rest, steps) // every sum's state starts with the step number
		rest = rest[sum.StateLen():]
	}
	return state, nil
}

// zeroSampler is a sampler for sums of which only the length of the state is needed.
type zeroSampler struct{}

func (zeroSampler) Fill(dst []int64, _ noise.Seed) { clear(dst) }

// CheckReset compares two streams with a memory across some resets. They have the same key and the same records, but
// different noise in their buffers. Before a reset their releases must differ. After it each step must add equal
// numbers, to the last bit, whatever the buffers contained. CheckReset returns how many numbers it compared.
func CheckReset(c mechanisms.Config, p mechanisms.Calibration, stream *mechanisms.Stream) (numbers uint64, err error) {
	period, start := decay.Period(p.Decay.Memory), stream.AppendState(nil)
	for _, reset := range []uint64{1, 2, 5} {
		var both [2][]byte
		for i := range both {
			both[i], err = filledState(c, p, stream, start, reset*period, byte(i))
			if err != nil {
				return numbers, err
			}
		}
		var played [2][]resetRelease
		for i, state := range both {
			if played[i], err = increments(c, stream, state); err != nil {
				return numbers, err
			}
		}
		for t, one := range played[0] {
			step, same := reset*period-StepsBefore+1+uint64(t), slices.Equal(one.added, played[1][t].added)
			if t >= StepsBefore {
				same = same && decays(c, p, one, played[1][t], played[0][t-1], played[1][t-1])
			}
			switch {
			case t < StepsBefore && same:
				return numbers, fmt.Errorf("%w: but step %d before the reset does not depend on earlier noise", ErrReset, step)
			case t >= StepsBefore && !same:
				return numbers, fmt.Errorf("%w: step %d, and the last reset was after step %d", ErrReset, step, reset*period)
			}
			numbers += uint64(len(one.added))
		}
	}
	return numbers, stream.Restore(start)
}

// filledState returns the state of a stream StepsBefore steps before a reset, with its own noise in the buffers.
func filledState(
	c mechanisms.Config, p mechanisms.Calibration, stream *mechanisms.Stream, start []byte, step uint64, which byte,
) ([]byte, error) {
	state, err := At(c, p, start, step-filledSteps)
	if err != nil {
		return nil, err
	}
	if err := stream.Restore(state); err != nil {
		return nil, err
	}
	stream.Rekey([32]byte{which})
	id := noise.Identity{Partition: 3}
	for range filledSteps - StepsBefore {
		addLast(stream, perStep(c), &id, nil)
	}
	return stream.AppendState(nil), nil
}

// resetRelease is a step around a reset: the numbers that it adds, and its release.
type resetRelease struct {
	added   []lattice.Int128
	release []float64
}

// decays reports whether the difference of two releases is the decayed difference of the two releases before them,
// within rounding: numbers to 53 bits, decayed sums to less than a lattice unit.
func decays(c mechanisms.Config, p mechanisms.Calibration, one, other, oneBefore, otherBefore resetRelease) bool {
	kept, units := definition.Kept(p), definition.Integers(c, p)
	for i, y := range one.release {
		z, yBefore, zBefore := other.release[i], oneBefore.release[i], otherBefore.release[i]
		size := math.Abs(y) + math.Abs(z) + math.Abs(yBefore) + math.Abs(zBefore)
		if off := y - z - kept*(yBefore-zBefore); !(math.Abs(off) <= 0x1p-46*size+units[i]) {
			return false
		}
	}
	return true
}

// increments returns the resetReleases of null records from before a reset until after it.
func increments(c mechanisms.Config, stream *mechanisms.Stream, state []byte) (all []resetRelease, err error) {
	if err := stream.Restore(state); err != nil {
		return nil, err
	}
	stream.Rekey([32]byte{2})
	id := noise.Identity{Partition: 4}
	for range StepsBefore + playedAfter {
		addLast(stream, perStep(c), &id, nil)
		step := resetRelease{release: slices.Clone(sums(stream, c))}
		for k := range c.Contribution.Components {
			step.added = append(step.added, stream.Increments(k)...)
		}
		if len(step.added) != c.Dimension() {
			return nil, errors.New("audit: a stream with a memory does not return the increments of a step")
		}
		all = append(all, step)
		if err := stream.Restore(stream.AppendState(nil)); err != nil {
			return nil, fmt.Errorf("%w: a state near it is refused: %w", ErrReset, err)
		}
	}
	return all, nil
}
