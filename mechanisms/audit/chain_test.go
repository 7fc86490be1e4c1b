package audit_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// partialChain plants a chain that ignores part of its input. absorbed returns the part of a record that the chain
// absorbs; the rest of the contribution is added after the noise.
type partialChain struct {
	*mechanisms.Stream
	absorbed func(id noise.Identity, gradient []float64) (noise.Identity, []float64)
	lost     []float64
	sum      []float64
}

func (d *partialChain) Add(id noise.Identity, gradient []float64) {
	id, kept := d.absorbed(id, gradient)
	for i, x := range gradient {
		if d.lost[i] += x; kept != nil {
			d.lost[i] -= kept[i]
		}
	}
	d.Stream.Add(id, kept)
}

func (d *partialChain) Sum(int) []float64 {
	d.sum = slices.Clone(d.Stream.Sum(0))
	for i, x := range d.lost {
		d.sum[i] += x
	}
	return d.sum
}

func (d *partialChain) Restore(state []byte) error {
	clear(d.lost)
	return d.Stream.Restore(state)
}

// withoutByte ignores one byte of the lattice units, in the coordinates from first on.
func withoutByte(unit float64, first int, mask int64) func(noise.Identity, []float64) (noise.Identity, []float64) {
	return func(id noise.Identity, gradient []float64) (noise.Identity, []float64) {
		kept := slices.Clone(gradient)
		for i := first; i < len(kept); i++ {
			kept[i] = float64(int64(kept[i]/unit)&^mask) * unit
		}
		return id, kept
	}
}

func identity(change func(*noise.Identity)) func(noise.Identity, []float64) (noise.Identity, []float64) {
	return func(id noise.Identity, gradient []float64) (noise.Identity, []float64) {
		change(&id)
		return id, gradient
	}
}

func TestCheckChainCatchesUnabsorbedFields(t *testing.T) {
	for _, name := range []string{"blt", "tree-gaussian", "tree-laplace", "tree-gamma", "once-gaussian"} {
		for _, batch := range []uint64{1, 3} {
			c := config(name)
			c.Contribution, c.Batch, c.Budget.Epsilon = contribution.OneComponent(3, c.Clip()), batch, 1
			p := mechtest.Plan(t, c)
			try := func(what string, absorbed func(noise.Identity, []float64) (noise.Identity, []float64), caught bool) {
				t.Helper()
				var stream audit.Stream = mechtest.Open(t, c, [32]byte{3})
				if absorbed != nil {
					stream = &partialChain{Stream: mechtest.Open(t, c, [32]byte{3}), absorbed: absorbed, lost: make([]float64, 3)}
				}
				test, err := audit.CheckChain(c, p, stream)
				if err != nil {
					t.Fatal(err)
				}
				if test.P < 1e-5 != caught || caught && !strings.Contains(test.Worst, what) || !caught && test.P < 1 {
					t.Errorf("%s, B = %d, %s: %+v", name, batch, what, test)
				}
			}
			unit := p.Grid.Unit()
			try("no fault", nil, false)
			try("1 lattice unit more at coordinate 1", withoutByte(unit, 0, 0xff), true)
			try("256 lattice units more at coordinate 3", withoutByte(unit, 2, 0xff00), true)
			try("65536 lattice units more at coordinate 3", withoutByte(unit, 2, 0xff0000), true)
			try("another sign at coordinate 1", func(id noise.Identity, gradient []float64) (noise.Identity, []float64) {
				kept := slices.Clone(gradient)
				for i, x := range kept {
					kept[i] = math.Abs(x)
				}
				return id, kept
			}, true)
			const null = "a null event for a contribution of zeros"
			try(null, func(id noise.Identity, gradient []float64) (noise.Identity, []float64) {
				if !slices.ContainsFunc(gradient, func(x float64) bool { return x != 0 }) {
					gradient = nil
				}
				return id, gradient
			}, true)
			try("another topic", identity(func(id *noise.Identity) { id.Topic = [16]byte{} }), true)
			try("another partition", identity(func(id *noise.Identity) { id.Partition = 0 }), true)
			try("another offset", identity(func(id *noise.Identity) { id.Offset &= 1<<32 - 1 }), true)
			try("another leader epoch", identity(func(id *noise.Identity) { id.LeaderEpoch = 0 }), true)
		}
	}
}

// TestCheckChainPassesTrueNoise checks that honest streams pass, for several batch sizes, horizons and dimensions.
func TestCheckChainPassesTrueNoise(t *testing.T) {
	for _, change := range []func(*mechanisms.Config){
		func(c *mechanisms.Config) { c.Batch = 1000 },
		func(c *mechanisms.Config) { c.Scope = protection.Lifetime{Steps: 1, Within: 8} },
		func(c *mechanisms.Config) { c.Scope = protection.Lifetime{Steps: 2, Within: 8} },
		func(c *mechanisms.Config) { c.Contribution = contribution.OneComponent(1, c.Clip()) },
		func(c *mechanisms.Config) { c.Contribution = contribution.OneComponent(600, c.Clip()) },
		func(c *mechanisms.Config) { c.Name, c.Scope = "tree-laplace", protection.Window{Steps: 1} },
	} {
		c := config("blt")
		change(&c)
		test, err := audit.CheckChain(c, mechtest.Plan(t, c), mechtest.Open(t, c, [32]byte{4}))
		if err != nil || test.P < 1 || test.Count < 8 {
			t.Errorf("%+v: %+v, %v", c, test, err)
		}
	}
	c := config("once-gaussian")
	c.Budget.Epsilon = 1e9
	if _, err := audit.CheckChain(c, mechtest.Plan(t, c), mechtest.Open(t, c, [32]byte{})); err == nil {
		t.Error("noise that is small beside the lattice")
	}
}
