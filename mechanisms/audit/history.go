package audit

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

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
