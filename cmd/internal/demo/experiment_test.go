package demo

import (
	"math"
	"regexp"
	"strconv"
	"testing"

	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka"
	"oriel/pipeline/pipetest/brokertest"
)

// TestDemoShowsExperimentsInTurn checks that the demo prints, for each of its two experiments, the true effect in the
// events, and a band that contains it.
func TestDemoShowsExperimentsInTurn(t *testing.T) {
	stream := newAirports(firstFlights(t, 30_000)).streams[0]
	client := brokertest.Client(t, servicetest.EmbeddedBroker(t), kafka.Config{})
	text, err := experiments(t.Context(), client, t.TempDir(), stream, Options{
		Seed: 1, Bar: func(int64, string) Bar { return unseen{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^  (\d) +(\S+), within +(\S+) to +(\S+) at all looks \( *(\S+)\)   (B better|not shown)`).
		FindAllStringSubmatch(text, -1)
	if len(lines) != 2 || lines[0][1] != "1" || lines[1][1] != "2" {
		t.Fatal(text)
	}
	all, second := draw(stream)
	for k, part := range [][]drawn{all[:second], all[second : len(all)/variantsOf*variantsOf]} {
		var x [4]float64
		for i := range x {
			if x[i], err = strconv.ParseFloat(lines[k][2+i], 64); err != nil {
				t.Fatal(err)
			}
		}
		n, late := [2]float64{}, [2]float64{}
		for _, d := range part {
			arm := map[bool]int{false: 0, true: 1}[d.b]
			n[arm]++
			if !d.onTime {
				late[arm]++
			}
		}
		if truth := late[0]/n[0] - late[1]/n[1]; math.Abs(truth-x[3]) > 1e-4 {
			t.Errorf("the truth is said to be %g, it is %g", x[3], truth)
		}
		if x[1] > x[0] || x[0] > x[2] || x[1] > x[3] || x[3] > x[2] {
			t.Errorf("experiment %d: %v", k+1, lines[k])
		}
	}
}
