package aggregate

import (
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/operators/optest"
)

// config returns the operator of settings, NAME=value, over a mechanism, and that mechanism.
func config(tb testing.TB, m mechanisms.Config, lines ...string) (configured, mechanisms.Config) {
	tb.Helper()
	return optest.Over[configured](tb, Family, m, lines...)
}

// life is a mechanism whose sums decay; total one of all steps; tumbling one of single steps.
func life(memory, batch uint64) mechanisms.Config {
	return mechanisms.Config{
		Name: "blt", Memory: memory, Batch: batch, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6}, Adjacency: dp.ZeroOut,
	}
}

func total(batch uint64) mechanisms.Config {
	m := life(0, batch)
	m.Window, m.Adjacency = 64, dp.Replace
	return m
}

func tumbling(batch uint64) mechanisms.Config {
	m := life(0, batch)
	m.Name = "once-gaussian"
	return m
}
