package audit

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/audit/definition"
	"oriel/mechanisms/audit/residual"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// change is one thing in which two histories differ: one record, which the second one has in place of the first one's.
type change struct {
	what         string
	place        uint64  // in its batch
	contribution []int64 // lattice units; nil is the null event
	other        []int64
	identity     func(*noise.Identity) // of the second; nil leaves it
}

const (
	// mostPlaces bounds the coordinates that are changed one by one, and mostNumbers what is added up for them.
	mostPlaces  = 256
	mostNumbers = 1 << 22
	// longBatch bounds what is played for a change: of a longer batch, only the changed step is looked at.
	longBatch = 64
	// density of standardised noise is below this: of a node or step, ½ at most; of a forecast's error, ½ of its
	// standard deviation, √63 nodes' at most.
	density = 4
)

// Stream is what CheckChain looks at: a *mechanisms.Stream.
type Stream interface {
	Add(id noise.Identity, gradient []float64) (closed bool)
	Sum(part int) []float64
	AppendState(dst []byte) []byte
	Restore(state []byte) error
}

// sums returns the last releases of all components, one behind the other.
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

// CheckChain plays pairs of short histories that differ in one record, and there in as little as can be: one lattice
// unit of one coordinate, one byte of it, a null event for a contribution of zeros, one field of the record's identity.
// All noise from the record's step on must be new. True noises agree at a coordinate in about one of s cases, s the
// scale in lattice units: the p-value is that of as many as were found, or more.
//
// A part's numbers have to be those of its contribution: RawContributions makes it so of a component with a quantiser.
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
	for x := range changes(base, largest, c.Batch) {
		first, err := h.play(x.place, x.contribution, nil)
		if err != nil {
			return residual.Test{}, err
		}
		second, err := h.play(x.place, x.other, x.identity)
		if err != nil {
			return residual.Test{}, err
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
	}
	// Whatever was drawn before, a true draw is within a tolerance of a given number with probability 2·tolerance times
	// the largest density at most.
	f.P = residual.AtLeast(uint64(equal), uint64(compared), min(1, 2*density*h.tolerance))
	return f, nil
}

// bases is a contribution from which changes go out, and the largest number at each coordinate that a contribution may
// have there: a quantiser may allow contributions that are much shorter than the grid does, and then the base is zero
// there.
func bases(c mechanisms.Config, p mechanisms.Calibration) (base, largest []int64) {
	base = make([]int64, c.Dimension())
	for k, part := range definition.Components(c, p) {
		limit := part.Grid.Lambda
		if q := c.Contribution.Components[k].Quantiser; q != nil {
			_, zeroOut := q.Distances(part.Grid)
			limit = int64(math.Sqrt(lattice.Grid{}.Float64(zeroOut)) / 2)
		}
		for i := part.From; i < part.To; i++ {
			if float64(limit) > 16*math.Sqrt(float64(part.To-part.From)) {
				base[i] = int64(i*7%13) + 1
			}
			largest = append(largest, max(1, limit))
		}
	}
	return base, largest
}

// changes are all that are tried.
func changes(base, largest []int64, batch uint64) iter.Seq[change] {
	n, zero := len(base), make([]int64, len(base))
	last := batch - 1
	few := []change{
		{"another topic", last, base, base, func(id *noise.Identity) { id.Topic[15]++ }},
		{"another partition", last, base, base, func(id *noise.Identity) { id.Partition++ }},
		{"another offset", last, base, base, func(id *noise.Identity) { id.Offset += 1 << 32 }},
		{"another leader epoch", last, base, base, func(id *noise.Identity) { id.LeaderEpoch++ }},
	}
	places := slices.Compact([]uint64{0, batch / 2, last})
	for _, place := range places {
		few = append(few, change{"a null event for a leaf of zeros", place, zero, nil, nil})
	}
	every := max(1, n/mostPlaces, n/max(1, mostNumbers/n))
	return func(yield func(change) bool) {
		for _, x := range few {
			if !yield(x) {
				return
			}
		}
		for _, place := range places {
			for i := 0; i < n && (i == 0 || place == last); i += every {
				if !changesAt(i, place, base, largest[i], yield) {
					return
				}
			}
		}
	}
}

// changesAt are those of one coordinate: one byte of it, or its sign.
func changesAt(i int, place uint64, base []int64, largest int64, yield func(change) bool) bool {
	to := func(what string, x int64) bool {
		if x == base[i] || x > largest {
			return true
		}
		other := slices.Clone(base)
		other[i] = x
		return yield(change{fmt.Sprintf("%s at coordinate %d", what, i+1), place, base, other, nil})
	}
	return to("1 lattice unit more", base[i]+1) && to("256 lattice units more", base[i]+1<<8) &&
		to("65536 lattice units more", base[i]+1<<16) && to("another sign", -base[i])
}

// historyPlayer plays short histories on one stream. All their records but one are null.
type historyPlayer struct {
	config        mechanisms.Config
	stream        Stream
	integers      []float64 // one of each coordinate, loss units
	rebuild       *residual.Rebuilder
	tolerance     float64 // how far rounding may take equal draws apart, scales
	changed, last uint64  // steps: of the record, and of the last release
	start         []byte
}

func newHistorian(c mechanisms.Config, p mechanisms.Calibration, stream Stream) (*historyPlayer, error) {
	h := &historyPlayer{
		config: c, stream: stream, integers: definition.Integers(c, p), changed: 2, last: 3, start: stream.AppendState(nil),
	}
	for _, part := range definition.Components(c, p) {
		h.tolerance = max(h.tolerance, 4/part.Scale.Float64())
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

// play returns the noise of the changed step and those after it, standardised.
func (h *historyPlayer) play(place uint64, units []int64, identity func(*noise.Identity)) ([]float64, error) {
	if err := h.stream.Restore(h.start); err != nil {
		return nil, err
	}
	var out []float64
	n := h.config.Dimension()
	leaf, none, z := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, v := range units {
		leaf[i] = float64(v) * h.integers[i]
	}
	id := noise.Identity{Partition: 1}
	h.rebuild.Start()
	for step := uint64(1); step <= h.last; step++ {
		sum := none
		for at := range h.config.Batch {
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
			sum = leaf
			h.stream.Add(other, leaf)
		}
		if h.rebuild.Next(z, sums(h.stream, h.config), sum); step >= h.changed {
			out = append(out, z...)
		}
	}
	return out, nil
}

// Play plays one run of a canary from its first record, under the identities of that run, and hands each release to
// observe; its slice is valid during the call.
type Play func(run uint64, canary bool, observe func(release []float64)) error

// Faults of a second history: they change no law of a single run.
var (
	ErrRedrawn = errors.New("audit: the same records twice have two releases: noise is drawn anew on a repetition, and a crash would show each value twice")
	ErrReused  = errors.New("audit: a changed event leaves the noise of its step as it was: two histories show the exact difference")
	ErrShared  = errors.New("audit: two runs have the same releases: their identities are not in the noise, or there is none")
)

// CheckHistory plays run 0 with the canary twice, and without it once, all under the same identities: the first two
// must be equal byte for byte, and the third must have other noise at the canary's step. Run 1, under identities of its
// own, must have other noise altogether.
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
	// At the canary's own step, prefix sums and single steps alike differ by one contribution. A contribution may be off
	// by a few lattice units.
	at := k.Step - 1
	for i, x := range difference(with[at], without[at]) {
		if math.Abs(x-(k.With[i]-k.Without[i])) > 0x1p-22*k.Distance() {
			return nil
		}
	}
	return fmt.Errorf("%w (release %d)", ErrReused, k.Step)
}
