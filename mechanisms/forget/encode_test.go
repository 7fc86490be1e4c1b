package forget

import (
	"bytes"
	"slices"
	"testing"

	"oriel/mechanisms/noise"
)

func TestRestoreAtEveryStepGivesTheSameBytes(t *testing.T) {
	sampler := gaussian(t, 1<<30)
	for _, f := range written(t) {
		for _, start := range []uint64{0, Period(f.Memory) - 30} {
			c, again := newCarry(t, f, 1<<30, 3, sampler), newCarry(t, f, 1<<30, 3, sampler)
			c.steps = start
			chain, dst, twice := noise.NewChain([32]byte{7}), make([]float64, 3), make([]float64, 3)
			var before []byte
			for now := range int64(70) {
				before = c.AppendState(before[:0])
				key := chain.Key()
				step(c, chain, dst, now, -now, 5)
				if err := again.Restore(before); err != nil {
					t.Fatal(err)
				}
				step(again, noise.NewChain(key), twice, now, -now, 5)
				after := c.AppendState(nil)
				if !slices.Equal(dst, twice) || len(after) != c.StateLen() || !bytes.Equal(after, again.AppendState(nil)) {
					t.Fatalf("m=%d t=%d: release %v and state differ after a restore, want %v", f.Count, now+1, twice, dst)
				}
			}
		}
	}
}

func TestRestoreRefusesWhatItDidNotWrite(t *testing.T) {
	filter := written(t)[0] // P = 2048
	c := newCarry(t, filter, 1<<10, 2, gaussian(t, 1<<10))
	chain, dst := noise.NewChain([32]byte{7}), make([]float64, 2)
	empty := c.AppendState(nil)
	c.steps = 2043
	for range 5 {
		step(c, chain, dst, 1, 2)
	}
	reset := c.AppendState(nil)
	for range 5 {
		step(c, chain, dst, 1, 2)
	}
	state := c.AppendState(nil)
	f := func(name string, bad []byte) {
		t.Helper()
		if c.Restore(bad) == nil {
			t.Errorf("%s: accepted", name)
		}
		if !bytes.Equal(c.AppendState(nil), state) {
			t.Errorf("%s: a refused state changes the carry", name)
		}
	}
	with := func(state []byte, i int, b byte) []byte {
		bad := bytes.Clone(state)
		bad[i] ^= b
		return bad
	}
	f("short", state[:len(state)-1])
	f("long", append(bytes.Clone(state), 0))
	f("sum before the first step", with(empty, 8, 1))
	f("buffer before the first step", with(empty, len(empty)-16, 1))
	f("buffer after a reset", with(reset, len(reset)-16, 1))
	f("sum beyond its limit", with(state, 8+13, 1)) // bit 104 of at most 75
	f("sum below its limit", with(state, 8+16+15, 0xff))
	f("buffer beyond its limit", with(state, len(state)-1, 0x40))
	f("buffer far below its limit", with(state, 8+32+15, 0xc0))
}

func FuzzRestore(f *testing.F) {
	filter, sampler := written(f)[1], gaussian(f, 1<<10)
	c := newCarry(f, filter, 1<<10, 1, sampler)
	chain, dst := noise.NewChain([32]byte{7}), make([]float64, 1)
	for range 4 {
		f.Add(c.AppendState(nil))
		step(c, chain, dst, 1)
	}
	f.Fuzz(func(t *testing.T, state []byte) {
		c := newCarry(t, filter, 1<<10, 1, sampler)
		if c.Restore(state) == nil && !bytes.Equal(c.AppendState(nil), state) {
			t.Error("a restored state is not written back")
		}
	})
}
