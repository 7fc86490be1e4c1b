package optest

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/operators"
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
func Values(f operators.Definition, m mechanisms.Config, lines ...string) *operators.Values {
	return valuesFrom(os.ReadFile, f, m, lines)
}

func valuesFrom(
	read func(name string) ([]byte, error), f operators.Definition, m mechanisms.Config, lines []string,
) *operators.Values {
	given, rounds := map[string]string{}, m.Scope.Figures().Horizon
	for _, line := range lines {
		name, text, _ := strings.Cut(line, "=")
		if given[operators.Prefix+name] = text; name == "ROUNDS" {
			rounds, _ = strconv.ParseUint(text, 10, 64)
		}
	}
	return operators.Source{Given: given, ReadFile: read, Common: operators.Common{
		Mechanism: m.Name, Batch: m.Batch, Rounds: rounds, Terms: m.Terms,
	}}.Read(&operators.Problems{}, f.Settings, func(operators.Setting) bool { return true })
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
