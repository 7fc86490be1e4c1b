package optest

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/setting"
)

// Configure returns the operator that settings NAME=value, without the prefix ORIEL_, configure over a mechanism.
// ROUNDS defaults to the rounds of the mechanism's scope.
func Configure(f operators.Definition, m mechanisms.Config, lines ...string) (operators.Operator, error) {
	return ConfigureFrom(os.ReadFile, f, m, lines...)
}

// ConfigureFrom is Configure with a function that reads files.
func ConfigureFrom(
	read func(name string) ([]byte, error), f operators.Definition, m mechanisms.Config, lines ...string,
) (operators.Operator, error) {
	v := valuesFrom(read, f, m, lines)
	f.Events(v)
	return f.New(v)
}

// Values returns the settings as an operator reads them.
func Values(f operators.Definition, m mechanisms.Config, lines ...string) *setting.Values {
	return valuesFrom(os.ReadFile, f, m, lines)
}

func valuesFrom(
	read func(name string) ([]byte, error), f operators.Definition, m mechanisms.Config, lines []string,
) *setting.Values {
	given, rounds := map[string]string{}, m.Scope.Figures().Horizon
	for _, line := range lines {
		name, text, _ := strings.Cut(line, "=")
		if given[setting.Prefix+name] = text; name == "ROUNDS" {
			rounds, _ = strconv.ParseUint(text, 10, 64)
		}
	}
	return setting.Source{Given: given, ReadFile: read, Common: setting.Common{
		Mechanism: m.Name, Batch: m.Batch, Rounds: rounds, Terms: m.Terms,
	}}.Read(&setting.Problems{}, f.Settings, func(setting.Row) bool { return true })
}

// Over is Configure followed by Require. It returns the operator as its concrete type.
func Over[C operators.Operator](
	tb testing.TB, f operators.Definition, m mechanisms.Config, lines ...string,
) (C, mechanisms.Config) {
	tb.Helper()
	c, err := Configure(f, m, lines...)
	if err != nil {
		tb.Fatal(err)
	}
	if err := c.Require(&m, nil); err != nil {
		tb.Fatal(err)
	}
	return c.(C), m
}

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
