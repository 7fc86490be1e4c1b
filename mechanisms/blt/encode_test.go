package blt

import (
	"bytes"
	"fmt"
	"testing"

	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
)

func TestRestoreAtEveryStepGivesTheSameBytes(t *testing.T) {
	sampler := sumtest.Gaussian(t, 1<<30)
	for _, f := range []Filter{handmade(t), fitFilter(t, 16, 0.3, 2), fitFilter(t, 1<<20, 0.3, 4)} {
		c, again := newCarry(t, f, 1<<30, 3, sampler), newCarry(t, f, 1<<30, 3, sampler)
		sumtest.RestoreGivesTheSameBytes(t, fmt.Sprintf("m = %d", f.Count), 70, c, again)
	}
}

func TestRestoreRefusesWhatItDidNotWrite(t *testing.T) {
	c := newCarry(t, handmade(t), 1<<10, 2, sumtest.Gaussian(t, 1<<10))
	chain, dst := noise.NewChain([32]byte{7}), make([]float64, 2)
	empty := c.AppendState(nil)
	for range 5 {
		sumtest.Step(c, chain, dst, 1, 2)
	}
	state := c.AppendState(nil)
	f := func(what string, bad []byte) {
		t.Helper()
		sumtest.RefusesState(t, c, what, bad)
	}
	f("short", state[:len(state)-1])
	f("long", append(bytes.Clone(state), 0))
	f("total before the first step", sumtest.Flipped(empty, 8, 1))
	f("buffer before the first step", sumtest.Flipped(empty, len(empty)-16, 1))
	f("buffer beyond its limit", sumtest.Flipped(state, len(state)-1, 0x40))
	f("buffer far below its limit", sumtest.Flipped(state, 8+32+15, 0xc0))
}

func FuzzRestore(f *testing.F) {
	filter, sampler := handmade(f), sumtest.Gaussian(f, 1<<10)
	c := newCarry(f, filter, 1<<10, 1, sampler)
	chain, dst := noise.NewChain([32]byte{7}), make([]float64, 1)
	for range 4 {
		f.Add(c.AppendState(nil))
		sumtest.Step(c, chain, dst, 1)
	}
	f.Fuzz(func(t *testing.T, state []byte) {
		sumtest.WritesBack(t, newCarry(t, filter, 1<<10, 1, sampler), state)
	})
}
