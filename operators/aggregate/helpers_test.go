package aggregate

import (
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/operators/optest"
)

// config returns the operator with the given settings (NAME=value) over a mechanism, and that mechanism.
func config(tb testing.TB, m mechanisms.Config, lines ...string) (operator, mechanisms.Config) {
	tb.Helper()
	return optest.Over[operator](tb, Definition, m, lines...)
}

// life returns a mechanism whose sums decay, total one that sums all steps, and tumbling one that sums each step
// separately.
func life(memory, batch uint64) mechanisms.Config {
	return under("blt", protection.Decay{Steps: memory}, dp.ZeroOut, batch)
}

func total(batch uint64) mechanisms.Config {
	return under("blt", protection.Window{Steps: 64}, dp.Replace, batch)
}

func tumbling(batch uint64) mechanisms.Config {
	return under("once-gaussian", protection.PerStep{}, dp.ZeroOut, batch)
}

func under(name string, s protection.Scope, a dp.Adjacency, batch uint64) mechanisms.Config {
	return mechanisms.Config{
		Name: name, Batch: batch, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6},
		Terms: protection.Terms{Scope: s, Unit: protection.Event{Exchange: a}},
	}
}
