package audit

import (
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"oriel/cmd/internal/audit/attack"
	"oriel/cmd/internal/audit/subject"
	"oriel/cmd/internal/audit/work"
	"oriel/cmd/internal/flights"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/schemas/event"
)

// airlines are the cells of the board: a public table of departures by airline, which a watcher sees.
var airlines = []string{"AA", "DL", "UA"}

const (
	watched = 1000 // number of departures; the watcher guesses the airline of each
	looks   = 1000 // number of decisions that the best attack at the board sees
)

// board returns a counter of departures by airline, for life.
func board(t *testing.T, epsilon float64) *subject.Subject {
	t.Helper()
	return subjectOf(t, "ORIEL_OPERATOR=aggregate", "ORIEL_CELLS=carrier="+strings.Join(airlines, "|"),
		"ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=65536", fmt.Sprintf("ORIEL_EPSILON=%g", epsilon))
}

// departures returns the airlines of the first flights of the demo that left JFK, as indices into airlines.
func departures(t *testing.T) []int {
	t.Helper()
	places, err := readDepartures()
	if err != nil {
		t.Fatal(err)
	}
	return places
}

var readDepartures = sync.OnceValues(func() (places []int, err error) {
	file, err := os.Open("../../oriel/demodata/flights.csv.gz")
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	all, err := flights.Read(unzipped)
	for _, f := range all {
		place := slices.Index(airlines, flights.Carriers[f.Carrier])
		if place >= 0 && flights.Origins[f.Origin] == "JFK" && len(places) < watched {
			places = append(places, place)
		}
	}
	return places, err
})

// guessesRight returns how often the watcher is right who guesses that a departure was in the cell that rose by the
// largest amount.
func guessesRight(t *testing.T, a *subject.Subject, places []int) (right int) {
	t.Helper()
	p, err := a.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Begin(0); err != nil {
		t.Fatal(err)
	}
	before := make([]float64, len(airlines))
	for i, place := range places {
		p.Add(operators.Record{
			Identity: noise.Identity{Offset: int64(i)}, Event: event.Event{Numbers: []float64{float64(place)}, Weight: 1},
		})
		after, most := p.Decisions[0].Point, 0
		for cell := range airlines {
			if after[cell]-before[cell] > after[most]-before[most] {
				most = cell
			}
		}
		if most == place {
			right++
		}
		copy(before, after)
	}
	return right
}

// bestAttack runs the attack on one departure, following it for this many steps, in this many runs.
func bestAttack(t *testing.T, a *subject.Subject, runs int, steps uint64) audit.Report {
	t.Helper()
	attack, err := attack.New(a, 1, a.Dense(a.Random("direction", 0)), steps)
	if err != nil {
		t.Fatal(err)
	}
	if err := attack.Run(t.Context(), a, options(runs).work("", 0), alpha, func(audit.Run) {}); err != nil {
		t.Fatal(err)
	}
	return attack.Report
}

// TestAWatcherLearnsNoMoreThanIsProved covers a watcher of the board who guesses that each departure was in the cell
// that rose by the largest amount. At ε = 1 the watcher must be right as often as a random guess among three cells. At
// every ε the best attack must be right no more often than the claim allows.
func TestAWatcherLearnsNoMoreThanIsProved(t *testing.T) {
	for _, epsilon := range []float64{1, 4} {
		a := board(t, epsilon)
		// The expected share is one third. The limit is 6.11 standard errors of the share among 1000 guesses, plus 0.03
		// for the effect of one departure.
		if right := guessesRight(t, a, departures(t)); epsilon == 1 && math.Abs(float64(right)/watched-1./3) > 0.092+0.03 {
			t.Errorf("ε = %g: %d of %d guesses are right", epsilon, right, watched)
		}
		report := bestAttack(t, a, 400, 40)
		looked, ever := guess(report.Claim.Mu), guess(dp.GaussianMu(dp.Budget{Epsilon: epsilon, Delta: 1e-6}))
		best := report.Bounds[0]
		tried := float64(best.Right) / float64(best.Guesses)
		if !(looked > 0.5 && looked <= ever) || tried > looked+6.11/2/math.Sqrt(400) || report.Err() != nil {
			t.Errorf("ε = %g: %g right, proved %g, and %g for ever: %v", epsilon, tried, looked, ever, report.Err())
		}
	}
}

// guess returns the largest possible share of right guesses between two airlines that were equally likely before.
// Releases with and without the departure are at most as different as N(0, 1) and N(µ, 1), so the share is Φ(µ/2)
// (Dong, Roth and Su, Gaussian Differential Privacy, 2022, section 2).
func guess(mu float64) float64 { return math.Erfc(-mu/2/math.Sqrt2) / 2 }

// TestFiguresOfTheWatcher checks the figures about the watcher in deploy/PRIVACY.md. The text must round upper bounds
// up.
func TestFiguresOfTheWatcher(t *testing.T) {
	content, err := os.ReadFile("../../../deploy/PRIVACY.md")
	if err != nil {
		t.Fatal(err)
	}
	said := strings.Join(strings.Fields(string(content)), " ") // the text may break a line at any space
	figures := func(pattern string) (all []float64) {
		t.Helper()
		found := regexp.MustCompile(pattern).FindStringSubmatch(said)
		if found == nil {
			t.Fatalf("deploy/PRIVACY.md does not say %q", pattern)
		}
		for _, text := range found[1:] {
			x, err := strconv.ParseFloat(strings.ReplaceAll(text, " ", ""), 64)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, x)
		}
		return all
	}
	check := func(what string, got []float64, want ...float64) {
		t.Helper()
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-9 {
				t.Errorf("%s: %g is said, it is %g", what, got[i], want[i])
			}
		}
	}
	a := board(t, 1)
	check("guesses", figures(`Her guess is right in (\d+) of (\d+)`), float64(guessesRight(t, a, departures(t))), watched)
	upper := func(share float64) float64 { return math.Ceil(1000*share) / 10 }
	mu := a.Guarantee.Mu
	check("the best attack", figures(`right with a chance of at most ([\d.]+) % after (\d+) looks, and of at most ([\d.]+) % after`),
		upper(guess(audit.ClaimAt(a.Guarantee, looks).Mu)), looks, upper(guess(mu)))
	if got := bestAttack(t, a, work.LeastRuns, looks).Claim.Mu; got != audit.ClaimAt(a.Guarantee, looks).Mu {
		t.Errorf("the attack is held to µ = %g", got)
	}
	// If the airline that the attack tests is the true one, the log-odds are N(µ²/2, µ²). So they exceed ε with
	// probability Φ(µ/2 − ε/µ).
	exception := math.Erfc((1/mu-mu/2)/math.Sqrt2) / 2
	belief := figures(`from 50 % to at most (\d+) %, except with a chance of one in ([\d ]+\d)`)
	check("belief", belief, math.Ceil(100*math.E/(1+math.E)))
	if one := belief[1]; one > 1/exception || one < 0.9/exception {
		t.Errorf("an exception of one in %g is said, it is one in %g", one, 1/exception)
	}
}
