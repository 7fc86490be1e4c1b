package names

import (
	"fmt"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest/goldentest"
	"oriel/schemas/decision"
)

// TestGolden compares the decisions of four steps, in each encoding, with testdata/golden.txt, which is part of the
// semantics of streams.
func TestGolden(t *testing.T) {
	var lines []string
	for _, c := range []struct {
		mechanisms.Config
		lines []string
	}{
		{under("once-laplace", 2, 0), []string{"NAMES_MAX=3"}},
		{under("once-laplace", 4, 2), []string{"PERSON_NAMES=2"}},
		{under("once-gaussian", 2, 0), nil},
	} {
		built, open := opened(t, c.Config, c.lines...)
		m := open(4)
		offset := int64(0)
		for step := range 4 {
			for i := range 200 * step { // the first step is empty
				name := []string{"tea", "=coffee", "caf\u00e9", `"`, "\U0001f600", "alone"}[min(i*i%11, 5-min(1, i))]
				m.Add(record(offset, name))
				offset++
			}
			d := m.Close(nil)[0]
			for e, name := range decision.Encodings {
				config := decision.Config{
					Stream: "words", Mechanism: c.Name, Seconds: 3600, Epsilon: 2, Delta: 1e-6, Adjacency: "add-remove", Unit: "event",
					Encoding: decision.Encoding(e),
				}
				line := decision.NewEncoder(config, built.Extras()).AppendTimed(nil, d.Index, d.Step, 3600_000, d.Point, d.Extras)
				if decision.Encoding(e) == decision.JSON {
					lines = append(lines, fmt.Sprintf("%s %s", name, line))
				} else {
					lines = append(lines, fmt.Sprintf("%s %x", name, line))
				}
			}
		}
	}
	goldentest.Check(t, lines)
}
