package demo

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"oriel/cmd/internal/flights"
	"oriel/cmd/internal/repotest"
	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka"
	"oriel/pipeline/pipetest/brokertest"
)

// unseen is a progress bar without output.
type unseen struct{}

func (unseen) Add(int) error { return nil }
func (unseen) Set(int) error { return nil }
func (unseen) Finish() error { return nil }

// firstFlights returns the first n flights of the demo.
func firstFlights(t *testing.T, n int) []flights.Flight {
	t.Helper()
	home := t.TempDir()
	repotest.UnpackFlights(t, home)
	file, err := os.Open(filepath.Join(home, "flights.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	all, err := flights.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return all[:n]
}

// TestDemoShowsPrivateNumbers checks that each number in the last block of the demo's output is within its stated error
// of the true number, which the test computes by summing flights backwards. A second run must print the same.
func TestDemoShowsPrivateNumbers(t *testing.T) {
	streams := newAirports(firstFlights(t, 30_050)).streams
	var texts []string
	for range 2 {
		client := brokertest.Client(t, servicetest.EmbeddedBroker(t), kafka.Config{})
		text, err := privateNumbers(t.Context(), client, t.TempDir(), streams, Options{
			Seed: 1, Bar: func(int64, string) Bar { return unseen{} },
		})
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	if texts[0] != texts[1] {
		t.Errorf("not repeatable:\n%s\n%s", texts[0], texts[1])
	}
	shown := 0
	for p, stream := range streams {
		_, line, found := strings.Cut(texts[0], "\n  "+flights.Origins[p]+"  ")
		if !found {
			t.Fatalf("no %s: %s", flights.Origins[p], texts[0])
		}
		line, _, _ = strings.Cut(line, "\n")
		for _, n := range regexp.MustCompile(`(\w\w) +(\S+) ± (\S+) \( *(\S+)\)`).FindAllStringSubmatch(line, -1) {
			var count, sum float64
			counted := stream[:len(stream)/100*100]
			for i := range counted {
				if flights.Carriers[counted[i].Carrier] == n[1] {
					w := math.Pow(1-1./65536, float64(len(counted)-1-i))
					count, sum = count+w, sum+w*max(-60, min(180, counted[i].Delay))
				}
			}
			var x [3]float64
			var err error
			for k, text := range n[2:] {
				if x[k], err = strconv.ParseFloat(text, 64); err != nil {
					t.Fatal(err)
				}
			}
			if truth := fmt.Sprintf("%.1f", sum/count); n[4] != truth {
				t.Errorf("%s: the truth is said to be %s, it is %s", n[0], n[4], truth)
			}
			// x[1] is the half-width of a 95 % interval: a limit of 6.9 standard deviations, plus rounding
			if math.Abs(x[0]-x[2]) > 3.5*x[1]+0.1 {
				t.Errorf("%s is out of its interval by far", n[0])
			}
			shown++
		}
	}
	if shown != 12 {
		t.Errorf("%d numbers: %s", shown, texts[0])
	}
}
