package mechanisms_test

import (
	"bytes"
	"runtime"
	"slices"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
)

// mechanismOf returns the opened mechanism of blt at d = 32, W = 1024, the case for which the tests state limits.
func mechanismOf(tb testing.TB) *mechanisms.Mechanism {
	tb.Helper()
	c := mechtest.Config(32)
	c.Name, c.Scope = "blt", protection.Window{Steps: 1024}
	mechanism, err := mechanisms.NewMechanism(c, mechtest.Plan(tb, c))
	if err != nil {
		tb.Fatal(err)
	}
	return mechanism
}

// TestStreamsOfOneMechanismAreIndependent alternates streams of one opened mechanism and of its clone, record by record
// and through states. They must give the same bytes as streams with separate mechanisms.
func TestStreamsOfOneMechanismAreIndependent(t *testing.T) {
	h := records(40, 3)
	for _, name := range mechanisms.Names() {
		c := batched(t)
		c.Name, c.Scope = name, scope(name, 4)
		calibration := mechtest.Plan(t, c)
		mechanism, err := mechanisms.NewMechanism(c, calibration)
		if err != nil {
			t.Fatal(err)
		}
		var shared, alone [3]*mechtest.Counted
		for k, of := range []*mechanisms.Mechanism{mechanism, mechanism, mechanism.Clone()} {
			shared[k] = mechtest.ByCount(of.Open([32]byte{byte(k)}))
			stream, err := mechanisms.Open(c, calibration, [32]byte{byte(k)})
			if err != nil {
				t.Fatal(err)
			}
			alone[k] = mechtest.ByCount(stream)
		}
		for i, id := range h.ids {
			for k := range shared {
				if k == 2 && i%3 == 0 {
					continue // skip some, so that the streams are at different steps
				}
				if shared[k].Add(id, h.gradients[i]) != alone[k].Add(id, h.gradients[i]) ||
					!slices.Equal(shared[k].Sum(0), alone[k].Sum(0)) {
					t.Fatalf("%s: record %d of stream %d: another release than with a mechanism of its own", name, i, k)
				}
				if tag := shared[k].Tag("x"); tag != alone[k].Tag("x") || tag == shared[(k+1)%3].Tag("x") {
					t.Fatalf("%s: record %d of stream %d: tag %x", name, i, k, tag)
				}
			}
			if state := shared[i%2].AppendState(nil); !bytes.Equal(state, alone[i%2].AppendState(nil)) {
				t.Fatalf("%s: record %d: another state than with a mechanism of its own", name, i)
			} else if err := shared[i%2].Restore(state); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestNewMechanismRefusesWhatOpenRefuses(t *testing.T) {
	c := config("blt", 2)
	calibration := mechtest.Plan(t, c)
	c.Budget.Epsilon /= 2
	if mechanism, err := mechanisms.NewMechanism(c, calibration); err == nil || mechanism != nil {
		t.Error("a calibration that proves less than configured gets a mechanism")
	}
}

// maxStreamBytes bounds the bytes that a further stream of an opened mechanism may allocate for blt at d = 32. Totals,
// buffers, the open batch and the last release take 3 072 of them.
const maxStreamBytes = 4096

func TestFurtherStreamAllocatesLittle(t *testing.T) {
	mechanism := mechanismOf(t)
	const streams = 1000
	var before, after runtime.MemStats
	kept := make([]*mechanisms.Stream, streams)
	runtime.ReadMemStats(&before)
	for i := range kept {
		kept[i] = mechanism.Open([32]byte{byte(i)})
	}
	runtime.ReadMemStats(&after)
	if bytes := (after.TotalAlloc - before.TotalAlloc) / streams; bytes > maxStreamBytes {
		t.Errorf("a further stream allocates %d bytes, want at most %d", bytes, maxStreamBytes)
	}
	if allocs := testing.AllocsPerRun(100, func() { kept[0] = mechanism.Open([32]byte{}) }); allocs > 8 {
		t.Errorf("a further stream takes %g allocations, want 8", allocs)
	}
	state := kept[1].AppendState(nil)
	if allocs := testing.AllocsPerRun(100, func() {
		if err := kept[0].Restore(state); err != nil {
			t.Fatal(err)
		}
	}); allocs != 0 {
		t.Errorf("Restore takes %g allocations, want none", allocs)
	}
	runtime.KeepAlive(kept)
}

// BenchmarkOpenFurtherStream compares opening another stream of an opened mechanism with opening the first one.
func BenchmarkOpenFurtherStream(b *testing.B) {
	c := mechtest.Config(32)
	c.Name, c.Scope = "blt", protection.Window{Steps: 1024}
	calibration, mechanism := mechtest.Plan(b, c), mechanismOf(b)
	b.Run("stream=further", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			mechanism.Open([32]byte{1})
		}
	})
	b.Run("stream=first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := mechanisms.NewMechanism(c, calibration); err != nil {
				b.Fatal(err)
			}
		}
	})
}
