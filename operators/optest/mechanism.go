package optest

import (
	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
)

// Under returns a mechanism for tests: a step is one record, ε = 4, δ = 10⁻⁶, and the unit is one event.
func Under(name string, s protection.Scope, a dp.Adjacency) mechanisms.Config {
	return mechanisms.Config{
		Name: name, Batch: 1, Budget: dp.Budget{Epsilon: 4, Delta: 1e-6},
		Terms: protection.Terms{Scope: s, Unit: protection.Event{Exchange: a}},
	}
}

// Life returns a mechanism whose sums decay, with protection for life.
func Life(memory uint64) mechanisms.Config {
	return Under("blt", protection.Decay{Steps: memory}, dp.Replace)
}

// Window returns a mechanism that protects a window of 64 steps, with pure ε if it supports that.
func Window(name string) mechanisms.Config {
	m := Under(name, protection.Window{Steps: 64}, dp.ZeroOut)
	if name == "tree-gamma" {
		m.Budget.Delta = 0
	}
	return m
}
