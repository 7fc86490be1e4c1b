package coco

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/operators"
	"oriel/schemas/event"
)

const nyseStocks, nyseDays = 36, 5651

// readNYSE returns the price relatives by day; testdata/README.md describes the file.
func readNYSE(t testing.TB) [][]float64 {
	t.Helper()
	file, err := os.Open("testdata/nyse_o.varint.gz")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(unzipped)
	days := make([][]float64, nyseDays)
	for day := range days {
		days[day] = make([]float64, nyseStocks)
		for stock := range days[day] {
			change, err := binary.ReadVarint(in)
			if err != nil {
				t.Fatal(err)
			}
			days[day][stock] = float64(100_000+change) / 100_000
		}
	}
	return days
}

// logWealth returns Σ_t log⟨x_t, r_t⟩, the natural logarithm of the wealth that the decisions of a machine, from x_1
// on, make of 1.
func logWealth(m *Machine, days [][]float64) float64 {
	counted := operators.ByCount(m)
	total := 0.0
	for day, relatives := range days {
		total += math.Log(floats.Dot(m.update.point(), relatives))
		counted.Add(nil, record(day, event.Event{Vector: event.Vector{Values: relatives}, Weight: 1}))
	}
	return total
}

// TestNYSE reproduces the known figures of the data set: −log⟨x, r⟩ on the simplex, L = 1, µ = 1, no noise, λ_0 = 0,
// starting from the uniform portfolio. The uniform portfolio rebalanced every day reaches log wealth 3.299.
func TestNYSE(t *testing.T) {
	days := readNYSE(t)
	uniform := 0.0
	for _, relatives := range days {
		mean := 0.0
		for _, r := range relatives {
			mean += r / nyseStocks
		}
		uniform += math.Log(mean)
	}
	if math.Abs(uniform-3.299) > 0.001 {
		t.Errorf("uniform portfolio: log wealth %.4f, want 3.299", uniform)
	}
	for _, c := range []struct {
		name            string
		update          string
		want, tolerance float64
	}{
		{"COCOP", Projection, 3.28, 0.02},
		{"COCOL", LLO, 3.32, 0.05},
	} {
		config := sample(t, "simplex", nyseStocks)
		config.Loss = mustLoss(t, "portfolio")
		config.Update, config.StrongConvexity, config.Rounds = c.update, 1, nyseDays
		m := quiet(t, config, mechanism(config, 1, 1))
		got := logWealth(m, days)
		t.Logf("%s: log wealth %.4f", c.name, got)
		if math.Abs(got-c.want) > c.tolerance {
			t.Errorf("%s: log wealth %.4f, want %.2f ± %.2f", c.name, got, c.want, c.tolerance)
		}
	}
}
