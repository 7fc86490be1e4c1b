package optest

import (
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
)

// RunTerms opens a machine over a stream of a mechanism, which must succeed. It then tries streams of the same
// mechanism with another scope and with the other adjacency. The machine must refuse these, because its decisions state
// the terms of its settings.
func RunTerms(t *testing.T, m mechanisms.Config, another protection.Scope, open func(*mechanisms.Stream) error) {
	t.Helper()
	if err := open(mechtest.ZeroStream(t, m)); err != nil {
		t.Errorf("its own terms: %v", err)
	}
	scope, unit := m, m
	scope.Scope, unit.Unit = another, protection.Event{Exchange: dp.ZeroOut}
	if m.Unit.AgainstNull() {
		unit.Unit = protection.Event{Exchange: dp.Replace}
	}
	for _, other := range []mechanisms.Config{scope, unit} {
		if open(mechtest.ZeroStream(t, other)) == nil {
			t.Errorf("a stream under %v is taken, and the settings say %v", other.Terms, m.Terms)
		}
	}
}
