package optest

import (
	"os"
	"strings"

	"oriel/mechanisms"
	"oriel/operators"
)

// Configure is an operator with settings, NAME=value without the prefix, over a mechanism.
func Configure(f operators.Family, m mechanisms.Config, lines ...string) (operators.Configured, error) {
	v := Values(f, m, lines...)
	f.Events(v)
	return f.New(v)
}

// Values are the settings themselves, as a family reads them.
func Values(f operators.Family, m mechanisms.Config, lines ...string) *operators.Values {
	given := map[string]string{}
	for _, line := range lines {
		name, text, _ := strings.Cut(line, "=")
		given[operators.Prefix+name] = text
	}
	return operators.Source{Given: given, ReadFile: os.ReadFile, Common: operators.Common{
		Mechanism: m.Name, Batch: m.Batch, Horizon: m.Horizon, Memory: m.Memory,
	}}.Read(&operators.Problems{}, f.Settings, func(operators.Setting) bool { return true })
}
