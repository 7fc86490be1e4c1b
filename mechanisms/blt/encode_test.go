package blt

import (
	"bytes"
	"slices"
	"testing"

	"oriel/mechanisms/noise"
)

func TestRestoreAtEveryStepGivesTheSameBytes(t *testing.T) {
	sampler := gaussian(t, 1<<30)
	for _, f := range []Filter{handmade(t), fitFilter(t, 16, 0.3, 2), fitFilter(t, 1<<20, 0.3, 4)} {
		c, again := newCarry(t, f, 1<<30, 3, sampler), newCarry(t, f, 1<<30, 3, sampler)
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

func TestRestoreRefusesWhatItDidNotWrite(t *testing.T) {
	c := newCarry(t, handmade(t), 1<<10, 2, gaussian(t, 1<<10))
	chain, dst := noise.NewChain([32]byte{7}), make([]float64, 2)
	empty := c.AppendState(nil)
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
	f("total before the first step", with(empty, 8, 1))
	f("buffer before the first step", with(empty, len(empty)-16, 1))
	f("total beyond its limit", with(state, 8+13, 1)) // bit 104; 5·2³¹·2²⁴ is below 2⁵⁸
	f("total below its limit", with(state, 8+16+15, 0xff))
	f("buffer beyond its limit", with(state, len(state)-1, 0x40))
	f("buffer far below its limit", with(state, 8+32+15, 0xc0))
}

func FuzzRestore(f *testing.F) {
	filter, sampler := handmade(f), gaussian(f, 1<<10)
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
