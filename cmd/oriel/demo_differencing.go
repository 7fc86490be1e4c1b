package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"oriel/cmd/internal/auditor"
	"oriel/cmd/internal/flights"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/schemas"
)

// differencing is the story of somebody who watches a live counter.
type differencing struct {
	epsilon float64
	watched int // departures that she guesses
	looks   int // that the best attack has at each of them
	runs    int // of it
	seed    uint64
	all     []flights.Flight
}

// boards are the airlines of the counter. Three of them are enough to tell the story.
var boards = []string{"AA", "DL", "UA"}

// settings count departures by airline, for life.
func (d differencing) settings() (settings.Settings, error) {
	return settings.Load([]string{
		"ORIEL_NAME=differencing", "ORIEL_INPUT_TOPIC=departures", "ORIEL_START=earliest", "ORIEL_OPERATOR=aggregate",
		"ORIEL_CELLS=carrier=" + strings.Join(boards, "|"), "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime",
		"ORIEL_MEMORY=65536", fmt.Sprintf("ORIEL_EPSILON=%g", d.epsilon), "ORIEL_DELTA=1e-6",
	}, settings.Events, settings.Operator)
}

// departures are the boards' places of the first flights of one airport: each is one person's secret.
func (d differencing) departures() (places []int) {
	for _, f := range d.all {
		place := slices.Index(boards, flights.Carriers[f.Carrier])
		if place >= 0 && flights.Origins[f.Origin] == "JFK" && len(places) < d.watched {
			places = append(places, place)
		}
	}
	return places
}

// glance is a counter before and after somebody passed.
type glance struct{ before, after []float64 }

// rose is the place that rose most.
func (g glance) rose() (place int) {
	for i := range g.after {
		if g.after[i]-g.before[i] > g.after[place]-g.before[place] {
			place = i
		}
	}
	return place
}

func (g glance) print(out io.Writer, format string) {
	for _, side := range []struct {
		name   string
		counts []float64
	}{{"before", g.before}, {"after", g.after}} {
		fmt.Fprintf(out, "    %-6s", side.name)
		for i, x := range side.counts {
			fmt.Fprintf(out, "   %s "+format, boards[i], x)
		}
		fmt.Fprintln(out)
	}
}

// guesses is how often somebody is right who says what rose most, and the glance at the last departure.
type guesses struct {
	right int
	last  glance
}

func (g *guesses) see(place int, at glance) {
	if g.last = at; at.rose() == place {
		g.right++
	}
}

// exact watches exact counts.
func (d differencing) exact() (g guesses) {
	counts := make([]float64, len(boards))
	for _, place := range d.departures() {
		before := append([]float64(nil), counts...)
		counts[place]++
		g.see(place, glance{before, append([]float64(nil), counts...)})
	}
	return g
}

// private watches the numbers that Oriel publishes of the same departures.
func (d differencing) private(m mechanisms.Config, operator operators.Operator) (g guesses, err error) {
	plan, err := mechanisms.Calibrate(m)
	if err != nil {
		return g, err
	}
	public, err := operator.Params(m)
	if err != nil {
		return g, err
	}
	stream, err := mechanisms.Open(m, plan, sha256.Sum256(fmt.Appendf(nil, "oriel demo, differencing, seed %d", d.seed)))
	if err != nil {
		return g, err
	}
	machine, err := operator.Open(public, stream)
	if err != nil {
		return g, err
	}
	counts := make([]float64, len(boards))
	for i, place := range d.departures() {
		record := operators.Record{
			Identity: noise.Identity{Offset: int64(i)}, Event: schemas.Event{Numbers: []float64{float64(place)}, Weight: 1},
		}
		for _, decision := range machine.Add(nil, record) {
			before := append([]float64(nil), counts...)
			copy(counts, decision.Point)
			g.see(place, glance{before, append([]float64(nil), counts...)})
		}
	}
	return g, nil
}

// learnt is what can be learned of one departure, from the guarantee alone.
type learnt struct {
	guess     float64 // share of right guesses of the best attack, between two airlines that were as likely before
	belief    float64 // to which a belief of one half goes at most
	exception float64 // but with this probability
}

// fromClaim computes it for µ and ε. Releases with and without differ as N(0, 1) and N(µ, 1) do at most: the best
// guess is right with Φ(µ/2) (Dong, Roth and Su, Gaussian Differential Privacy, 2022, section 2), and the log of the
// odds that it gives is N(µ²/2, µ²) where the departure is the likelier one's, so above ε with Φ(µ/2 − ε/µ).
func fromClaim(c audit.Claim) learnt {
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	odds := math.Exp(c.Epsilon)
	return learnt{phi(c.Mu / 2), odds / (1 + odds), phi(c.Mu/2 - c.Epsilon/c.Mu)}
}

// tell runs the story.
func (d differencing) tell(ctx context.Context, out, progress io.Writer) error {
	s, err := d.settings()
	if err != nil {
		return err
	}
	learner, err := s.Learner()
	if err != nil {
		return err
	}
	m, operator := learner.Mechanism(), learner.Operator()
	exact := d.exact()
	private, err := d.private(m, operator)
	if err != nil {
		return err
	}
	subject, err := auditor.NewSubject(s, sha256.Sum256(fmt.Appendf(nil, "oriel demo, attack, seed %d", d.seed)),
		auditor.AllComponents)
	if err != nil {
		return err
	}
	attack, err := subject.Attack(ctx, auditor.Options{
		Runs: d.runs, Position: 1, Steps: uint64(d.looks), Alpha: 0.001, Progress: progressOn(progress),
	})
	if err != nil {
		return err
	}
	model, err := s.Model()
	if err != nil {
		return err
	}
	guarantee, err := s.Guarantee(model)
	if err != nil {
		return err
	}
	d.print(out, exact, private, attack.Report, guarantee)
	return attack.Report.Err()
}

func (d differencing) print(out io.Writer, exact, private guesses, attack audit.Report, g protection.Guarantee) {
	watched := len(d.departures())
	board := boards[exact.last.rose()]
	fmt.Fprintf(out, "A board at JFK counts departures by airline, live, for everybody. Ada sees her neighbour walk to the gates,\n"+
		"and looks at the board before and after.\n\nExact counts:\n\n")
	exact.last.print(out, "%5.0f")
	fmt.Fprintf(out, "\n  He flew %s: she knows. So it goes with everybody whom she watches: right in %d of %d.\n",
		board, exact.right, watched)
	fmt.Fprintf(out, "\nThe same departures counted by Oriel, ε = %g for life:\n\n", d.epsilon)
	private.last.print(out, "%7.1f")
	fmt.Fprintf(out, "\n  What rose most is noise: right in %d of %d, and a die with three sides would be in %d.\n",
		private.right, watched, (watched+1)/3)
	now, ever := fromClaim(attack.Claim), fromClaim(audit.Claim{Mu: g.Mu, Epsilon: g.Epsilon, Delta: g.Delta})
	best := attack.Bounds[0]
	fmt.Fprintf(out, "\nThe best attack there is knows everybody else's flight, the settings, and that it was one of two airlines, as likely\n"+
		"as not; and it looks at the board %d times, from his departure on. Played %d times, as `oriel audit` plays it:\n\n"+
		"  %-44s %5.1f %%\n  %-44s %5.1f %%\n  %-44s %5.1f %%\n  %-44s %5.1f %%\n",
		d.looks, attack.Runs,
		"right without looking", 50.0,
		"right in these runs", 100*float64(best.Right)/float64(best.Guesses),
		fmt.Sprintf("proved of %d looks, at most", d.looks), upper(100*now.guess),
		"proved of all there will ever be, at most", upper(100*ever.guess))
	fmt.Fprintf(out, "\nIn plain words: whoever held it for one in two that he flew %s holds it for at most %.0f in 100 after all that will ever\n"+
		"be published, but for a chance of one in %.0f; with exact counts it was 100 in 100 after one look.\n",
		board, math.Ceil(100*ever.belief), hundreds(1/ever.exception))
}

// hundreds leaves two digits of a number, rounded down.
func hundreds(x float64) float64 {
	unit := math.Pow(10, max(0, math.Floor(math.Log10(x))-1))
	return unit * math.Floor(x/unit)
}

// upper rounds a share up to the digit that is shown.
func upper(percent float64) float64 { return math.Ceil(10*percent) / 10 }
