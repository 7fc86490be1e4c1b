package replay_test

import (
	"bytes"
	"encoding/hex"
	"slices"
	"testing"

	"oriel/cmd/internal/decisiontest"
	"oriel/cmd/internal/replay"
	"oriel/mechanisms/noise"
)

func TestReplayOfOneSeedGivesTheSameBytes(t *testing.T) {
	s := noisy(t, "MECHANISM=tree-gaussian", "DIMENSION=3", "WINDOW=8")
	m, events := decisiontest.Model(t, s), newHistory(24, 3).file()
	run := func(o replay.Options) string { return string(decisiontest.Replay(t, m, o, events)) }
	one := replay.Options{Seed: hex.EncodeToString(bytes.Repeat([]byte{1}, 32))}
	first := run(one)
	if run(one) != first {
		t.Error("one seed twice: other bytes")
	}
	seen := map[string]string{first: "the first"}
	for name, o := range map[string]replay.Options{
		"another seed":      {Seed: hex.EncodeToString(bytes.Repeat([]byte{2}, 32))},
		"another partition": {Seed: one.Seed, Partition: 1},
		"no seed":           {},
		"no seed, again":    {},
	} {
		out := run(o)
		if other, ok := seen[out]; ok {
			t.Errorf("%s: the bytes of %s", name, other)
		}
		seen[out] = name
	}
}

// TestReplayOfAChangedEventHasNewNoise compares the replays of two histories that differ in one event. All bytes before
// the event's step, and all nodes drawn before it, must be equal. Every node drawn from this step on must be new, and
// so must the noise of every later release. In both histories each release must be exactly the sum of quantised
// gradients and of its active nodes' noise. So expired noise is removed to the last bit.
func TestReplayOfAChangedEventHasNewNoise(t *testing.T) {
	const events, n = 48, 3
	for _, name := range []string{"tree-gaussian", "tree-gamma", "tree-laplace"} {
		for _, batch := range []string{"1", "2"} {
			s := noisy(t, "MECHANISM="+name, "DIMENSION=3", "WINDOW=8", "BATCH="+batch)
			m, seed := decisiontest.Model(t, s), [32]byte{7}
			o := replay.Options{Seed: hex.EncodeToString(seed[:])}
			run := func(h history) (out []byte, released [][]int64, nodes map[noise.NodeID]node) {
				out = decisiontest.Replay(t, m, o, h.file())
				released, nodes = recovered(t, s, h, out), drawn(t, s, m, seed, h)
				for i, release := range released {
					want := make([]int64, n)
					for _, id := range active(mechanismOf(t, s).Scope.Span(), uint64(i+1)) {
						for k, x := range nodes[id].values {
							want[k] += x
						}
					}
					if !slices.Equal(release, want) {
						t.Fatalf("%s, batch %s: noise of step %d is %d, that of its active nodes is %d", name, batch, i+1, release, want)
					}
				}
				return out, released, nodes
			}
			base := newHistory(events, n)
			out, released, nodes := run(base)
			for at, cost := range map[int][]float64{
				0: {0.5, 0, 0}, 1: nil, 24: {0, 0, 0}, 27: {0.125, 0.25, 0.5}, 47: {1, 2, 3},
			} {
				changed := base.with(at, cost)
				step := at/int(s.Batch) + 1 // step of the changed event
				outThere, releasedThere, nodesThere := run(changed)
				lines, linesThere := bytes.SplitAfter(out, []byte("\n")), bytes.SplitAfter(outThere, []byte("\n"))
				for i := range released {
					if same := bytes.Equal(lines[i], linesThere[i]); same != (i+1 < step) {
						t.Errorf("%s, batch %s: event %d changed: decision of step %d the same: %v", name, batch, at, i+1, same)
					}
					for k := range n {
						if same := released[i][k] == releasedThere[i][k]; same != (i+1 < step) {
							t.Errorf("%s, batch %s: event %d changed: noise of step %d the same: %v", name, batch, at, i+1, same)
						}
					}
				}
				for id, x := range nodes {
					for k := range n {
						if same := x.values[k] == nodesThere[id].values[k]; same != (x.step < uint64(step)) {
							t.Errorf("%s, batch %s: event %d changed: noise of node %v, drawn at step %d, the same: %v", name, batch, at, id, x.step, same)
						}
					}
				}
			}
		}
	}
}
