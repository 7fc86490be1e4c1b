package work

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestWorkIsTakenInOrder checks that do passes results on in order and without a gap, whichever worker finishes first.
// An error, an interruption or the time limit must end the work.
func TestWorkIsTakenInOrder(t *testing.T) {
	silent := func(string, int) (func(int), func()) { return func(int) {}, func() {} }
	identity := func() (func(uint64) (uint64, error), error) {
		return func(number uint64) (uint64, error) { return number, nil }, nil
	}
	var got []uint64
	take := func(r uint64) { got = append(got, r) }
	if err := Do(t.Context(), Job{Runs: 1000, Progress: silent}, identity, take); err != nil || len(got) != 1000 {
		t.Fatalf("%d results, %v", len(got), err)
	}
	for i, r := range got {
		if r != uint64(i) {
			t.Fatalf("result %d is that of run %d", i, r)
		}
	}

	got = nil
	late := Job{Runs: 1 << 62, Deadline: time.Now().Add(-time.Second), Progress: silent}
	if err := Do(t.Context(), late, identity, take); err != nil || len(got) != LeastRuns {
		t.Errorf("too late: %d results, %v", len(got), err)
	}

	broken := errors.New("broken")
	var played atomic.Uint64
	err := Do(t.Context(), Job{Runs: 1 << 62, Progress: silent}, func() (func(uint64) (uint64, error), error) {
		return func(number uint64) (uint64, error) {
			if played.Add(1); number == 50 {
				return 0, broken
			}
			return number, nil
		}, nil
	}, func(uint64) {})
	if !errors.Is(err, broken) || played.Load() > 1<<20 {
		t.Errorf("%v after %d runs", err, played.Load())
	}
	none := func() (func(uint64) (uint64, error), error) { return nil, broken }
	if err := Do(t.Context(), Job{Runs: 9, Progress: silent}, none, take); !errors.Is(err, broken) {
		t.Errorf("no worker: %v", err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Do(ctx, Job{Runs: 9, Progress: silent}, identity, take); err == nil ||
		!strings.Contains(err.Error(), "interrupted") {
		t.Errorf("interrupted: %v", err)
	}
}
