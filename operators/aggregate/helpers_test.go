package aggregate

import (
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/operators/optest"
)

// config returns the operator of settings, NAME=value, over a mechanism, and that mechanism.
func config(t testing.TB, m mechanisms.Config, lines ...string) (configured, mechanisms.Config) {
	t.Helper()
	c, err := configOf(m, lines...)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Mechanism(&m, nil); err != nil {
		t.Fatal(err)
	}
	return c, m
}

func configOf(m mechanisms.Config, lines ...string) (configured, error) {
	c, err := optest.Configure(Family, m, lines...)
	if err != nil {
		return configured{}, err
	}
	return c.(configured), nil
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
