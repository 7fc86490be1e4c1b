package audit

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/audit/definition"
	"oriel/mechanisms/audit/residual"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// change is a difference between two histories: the second history has this record in place of the first history's.
type change struct {
	what         string
	place        uint64  // position of the record in its batch
	contribution []int64 // lattice units; nil is the null event
	other        []int64
	identity     func(*noise.Identity) // changes the second record's identity; nil keeps it
}

const (
	// maxPlaces bounds the number of coordinates that CheckChain changes one by one; maxNumbers bounds the total length
	// of the vectors that it adds for them.
	maxPlaces  = 256
	maxNumbers = 1 << 22
	// longBatch bounds the records played for a change: for a longer batch, only the changed step is compared.
	longBatch = 64
	// density bounds the probability density of standardised noise. For a node or a step it is at most ½. For a
	// forecast error it is ½ divided by the standard deviation, which is at most √63 times a node's.
	density = 4
)

// Stream is the part of *mechanisms.Stream that CheckChain uses.
type Stream interface {
	Add(id noise.Identity, gradient []float64)
	Close()
	Sum(component int) []float64
	AppendState(dst []byte) []byte
	Restore(state []byte) error
}

// perStep returns the number of records in a step that a check plays: B, or one in a step by the clock.
func perStep(c mechanisms.Config) uint64 { return max(1, c.Batch) }

// addLast plays a step: it adds null events, and last in the last place, and closes the step. id is the identity of the
// record before.
func addLast(stream Stream, batch uint64, id *noise.Identity, last []float64) {
	for place := range batch {
		id.Offset++
		if place == batch-1 {
			stream.Add(*id, last)
		} else {
			stream.Add(*id, nil)
		}
	}
	stream.Close()
}

// sums returns the last releases of all components, concatenated.
func sums(stream Stream, c mechanisms.Config) []float64 {
	if len(c.Contribution.Components) == 1 {
		return stream.Sum(0)
	}
	var out []float64
	for i := range c.Contribution.Components {
		out = append(out, stream.Sum(i)...)
	}
	return out
}

// CheckChain plays pairs of short histories that differ in one record by as little as possible. They differ in one
// lattice unit of one coordinate, one byte of a coordinate, a null event in place of a zero contribution, or one field
// of the record's identity. All noise from the record's step on must be new. Two independent noises agree at a
// coordinate with probability of about 1/s, where s is the scale in lattice units. The p-value is the probability of at
// least as many agreements as were found.
//
// A component must take a record's numbers as its contribution, without quantising. RawContributions replaces
// quantisers accordingly.
func CheckChain(c mechanisms.Config, p mechanisms.Calibration, stream Stream) (residual.Test, error) {
	h, err := newHistorian(c, p, stream)
	if err != nil {
		return residual.Test{}, err
	}
	f := residual.Test{
		Name: "history", Looked: "noise after the least change of one record: is it new", P: 1, Worst: "all is new",
	}
	equal, compared := 0, 0
	base, largest := bases(c, p)
	eachChange(base, largest, perStep(c), func(x change) {
		first, errFirst := h.play(x.place, x.contribution, nil)
		second, errSecond := h.play(x.place, x.other, x.identity)
		if err = errors.Join(err, errFirst, errSecond); err != nil {
			return
		}
		same := 0
		for i := range first {
			if math.Abs(first[i]-second[i]) <= h.tolerance {
				same++
			}
		}
		if same > 0 && equal == 0 {
			f.Worst = fmt.Sprintf("%s: %d of %d draws stay", x.what, same, len(first))
		}
		equal, compared = equal+same, compared+len(first)
		f.Count++
	})
	if err != nil {
		return residual.Test{}, err
	}
	// Whatever was drawn before, a true draw lies within tolerance of a fixed number with probability at most
	// 2·tolerance times the largest density.
	f.P = residual.AtLeast(uint64(equal), uint64(compared), min(1, 2*density*h.tolerance))
	return f, nil
}

// bases returns a contribution from which the changes start, and the largest number that a contribution may have at
// each coordinate. Where a quantiser allows only much shorter contributions than the grid, the base is zero.
func bases(c mechanisms.Config, p mechanisms.Calibration) (base, largest []int64) {
	base = make([]int64, c.Dimension())
	for k, component := range definition.Components(c, p) {
		limit := component.Grid.Lambda
		if q := c.Contribution.Components[k].Quantiser; q != nil {
			_, zeroOut := q.Distances(component.Grid)
			limit = int64(math.Sqrt(lattice.Grid{}.Float64(zeroOut)) / 2)
		}
		for i := component.From; i < component.To; i++ {
			if float64(limit) > 16*math.Sqrt(float64(component.To-component.From)) {
				base[i] = int64(i*7%13) + 1
			}
			largest = append(largest, max(1, limit))
		}
	}
	return base, largest
}

// eachChange calls try with every change: of the identity, of a zero contribution to a null event, and of one byte or
// the sign of one coordinate.
func eachChange(base, largest []int64, batch uint64, try func(change)) {
	n, last := len(base), batch-1
	try(change{"another topic", last, base, base, func(id *noise.Identity) { id.Topic[15]++ }})
	try(change{"another partition", last, base, base, func(id *noise.Identity) { id.Partition++ }})
	try(change{"another offset", last, base, base, func(id *noise.Identity) { id.Offset += 1 << 32 }})
	try(change{"another leader epoch", last, base, base, func(id *noise.Identity) { id.LeaderEpoch++ }})
	places := slices.Compact([]uint64{0, batch / 2, last})
	for _, place := range places {
		try(change{"a null event for a contribution of zeros", place, make([]int64, n), nil, nil})
	}
	stride := max(1, n/maxPlaces, n/max(1, maxNumbers/n))
	for _, place := range places {
		for i := 0; i < n && (i == 0 || place == last); i += stride {
			for _, to := range []struct {
				what string
				x    int64
			}{
				{"1 lattice unit more", base[i] + 1},
				{"256 lattice units more", base[i] + 1<<8},
				{"65536 lattice units more", base[i] + 1<<16},
				{"another sign", -base[i]},
			} {
				if to.x == base[i] || to.x > largest[i] {
					continue
				}
				other := slices.Clone(base)
				other[i] = to.x
				try(change{fmt.Sprintf("%s at coordinate %d", to.what, i+1), place, base, other, nil})
			}
		}
	}
}

// historyPlayer plays short histories on one stream. All records except one are null events.
type historyPlayer struct {
	config        mechanisms.Config
	stream        Stream
	integers      []float64 // size of one integer at each coordinate, loss units
	rebuild       *residual.Rebuilder
	tolerance     float64 // loss units per lattice unit at each coordinate
	changed, last uint64  // steps of the changed record, and of the last release
	start         []byte
}

func newHistorian(c mechanisms.Config, p mechanisms.Calibration, stream Stream) (*historyPlayer, error) {
	h := &historyPlayer{
		config: c, stream: stream, integers: definition.Integers(c, p), changed: 2, last: 3, start: stream.AppendState(nil),
	}
	for _, component := range definition.Components(c, p) {
		h.tolerance = max(h.tolerance, 4/component.Scale.Float64())
	}
	if c.Batch > longBatch {
		h.changed, h.last = 1, 1
	}
	h.last = min(h.last, c.Scope.End())
	h.changed = min(h.changed, h.last)
	law, err := residual.New(c, p, int(h.last))
	if err != nil {
		return nil, err
	}
	h.rebuild = law.Rebuilder()
	return h, nil
}

// play returns the standardised noise of the changed step and of the steps after it.
func (h *historyPlayer) play(place uint64, units []int64, identity func(*noise.Identity)) ([]float64, error) {
	if err := h.stream.Restore(h.start); err != nil {
		return nil, err
	}
	var out []float64
	n := h.config.Dimension()
	vector, none, z := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, v := range units {
		vector[i] = float64(v) * h.integers[i]
	}
	id := noise.Identity{Partition: 1}
	h.rebuild.Start(0)
	for step := uint64(1); step <= h.last; step++ {
		sum := none
		for at := range perStep(h.config) {
			id.Offset++
			if step != h.changed || at != place {
				h.stream.Add(id, nil)
				continue
			}
			other := id
			if identity != nil {
				identity(&other)
			}
			if units == nil {
				h.stream.Add(other, nil)
				continue
			}
			sum = vector
			h.stream.Add(other, vector)
		}
		h.stream.Close()
		if h.rebuild.Next(z, sums(h.stream, h.config), sum); step >= h.changed {
			out = append(out, z...)
		}
	}
	return out, nil
}

// Play plays one run from its first record, under the run's own identities, with or without the canary. It calls
// observe with each release; the slice is valid only during that call.
type Play func(run uint64, canary bool, observe func(release []float64)) error

// Faults that only a comparison of two histories shows, because each history by itself has the correct law.
var (
	ErrRedrawn = errors.New("audit: the same records twice have two releases: noise is drawn anew on a repetition, and a crash would show each value twice")
	ErrReused  = errors.New("audit: a changed event leaves the noise of its step as it was: two histories show the exact difference")
	ErrShared  = errors.New("audit: two runs have the same releases: the noise does not depend on the runs' identities, or nothing adds noise")
)

// CheckHistory plays run 0 twice with the canary and once without it, under the same identities. The two plays with the
// canary must be equal byte for byte. The play without it must have other noise at the canary's step. Run 1 has its own
// identities, so all its noise must differ from run 0's.
func CheckHistory(play Play, k Canary) error {
	record := func(run uint64, canary bool) (releases [][]float64, err error) {
		err = play(run, canary, func(y []float64) { releases = append(releases, slices.Clone(y)) })
		return releases, err
	}
	with, errWith := record(0, true)
	again, errAgain := record(0, true)
	without, errWithout := record(0, false)
	other, errOther := record(1, true)
	if err := errors.Join(errWith, errAgain, errWithout, errOther); err != nil {
		return err
	}
	for t := range with {
		if !slices.Equal(with[t], again[t]) {
			return fmt.Errorf("%w (release %d)", ErrRedrawn, t+1)
		}
	}
	if slices.EqualFunc(with, other, slices.Equal[[]float64]) {
		return ErrShared
	}
	// At the canary's step the two histories differ by one contribution, for prefix sums and per-step sums alike.
	// Rounding may add up to four lattice units.
	at := k.Step - 1
	for i, x := range difference(with[at], without[at]) {
		if math.Abs(x-(k.With[i]-k.Without[i])) > 0x1p-22*k.Distance() {
			return nil
		}
	}
	return fmt.Errorf("%w (release %d)", ErrReused, k.Step)
}
