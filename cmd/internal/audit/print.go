package audit

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"oriel/cmd/internal/audit/attack"
	"oriel/cmd/internal/audit/subject"
	"oriel/cmd/internal/digits"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/dp"
)

// lower formats a lower bound with four significant digits, rounded down.
func lower(x float64) string {
	text := strconv.FormatFloat(x, 'g', 4, 64)
	if shown, err := strconv.ParseFloat(text, 64); err != nil || shown <= x {
		return text
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-3)
	// FormatFloat rounds to nearest, so this rounds down to four digits
	return strconv.FormatFloat(x-unit/2, 'g', 4, 64)
}

// closes says what closes a step.
func closes(batch uint64) string {
	if batch == 0 {
		return "steps by the clock"
	}
	return fmt.Sprintf("B = %d", batch)
}

// Print writes the attempts and the findings as text for people.
func (r *Result) Print(out io.Writer) error {
	g := r.subject.Guarantee
	fmt.Fprintf(out, "%s, %s, %s, d = %s, adjacency %s, unit %s\n",
		g.Mechanism, g.Brief(""), closes(g.Batch), dimensions(r.subject), g.Unit.Adjacency(), g.Unit.Name())
	fmt.Fprintf(out, "%s; the probability of a false alarm in any test below is at most %g\n\n",
		r.elapsed.Round(10*time.Millisecond), r.options.Alpha)
	for _, part := range []func(io.Writer) error{r.printAttacks, r.printChecks, r.printLeft} {
		if err := part(out); err != nil {
			return err
		}
	}
	if r.Err() == nil {
		fmt.Fprintln(out, "\nNot refuted.")
	}
	return nil
}

// printAttacks writes the bounds of the attacks, and the largest bounds that more runs could give.
func (r *Result) printAttacks(out io.Writer) error {
	if len(r.attacks) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "attack\tloss\tstatistic\tclaim\tthis canary\tlower bound\tof the claim\tright guesses\t")
	for _, t := range r.attacks {
		for _, b := range t.Report.Bounds {
			name := "µ"
			if b.Currency == "epsilon" {
				name = epsilonName(t)
			}
			value, share := lower(b.Value), fmt.Sprintf("%.3f", b.Value/b.Claim)
			if b.TooFew {
				value, share = tooFew, "–"
			}
			fmt.Fprintf(w, "step %d\t%s\t%s\t%s\t%s\t%s\t%s\t%d of %d\t\n", t.Canary.Step, name, b.Statistic,
				digits.Upper(b.Claim), digits.Upper(b.Law), value, share, b.Right, b.Guesses)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	k := r.attacks[0].Canary
	events := "one event"
	if k.Count > 1 {
		events = fmt.Sprintf("%d events of one user, %d steps apart", k.Count, k.Spacing)
	} else if n := r.subject.Mechanism.Unit.StepEvents(); n > 1 {
		events = fmt.Sprintf("all %d events of one user in a step", n)
		if r.subject.Mechanism.Unit.Apart() {
			events += ", each with another value"
		}
	}
	var moves []string
	for _, m := range movesOf(r.subject, k) {
		text := fmt.Sprintf("%.6g of %.6g", m.Distance, m.Sensitivity)
		if m.Name != "" && len(r.subject.Components) > 1 {
			text += " (" + m.Name + ")"
		}
		moves = append(moves, text)
	}
	fmt.Fprintf(out, "\nA canary is %s, followed to age %d; each contribution moves by %s. "+
		"This canary: the most that any test can find there, if the noise is the calibration's.\n",
		events, k.Age(), strings.Join(moves, " and "))
	for _, t := range r.attacks {
		printReach(t, out)
	}
	fmt.Fprintln(out)
	return nil
}

// printReach explains the attack's first bound, and writes how many runs or how much time a better bound needs.
func printReach(t *attack.Attack, out io.Writer) {
	first := t.Report.Bounds[0]
	share := first.Value / t.Report.Reach
	if first.TooFew {
		fmt.Fprintf(out, "Step %d: %s for the first bound, %d", t.Canary.Step, tooFew, t.Report.Runs)
		printMore(t, out, 0)
		return
	}
	fmt.Fprintf(out, "Step %d: the first bound", t.Canary.Step)
	if first.Currency == "mu" && first.Value > 0 {
		fmt.Fprintf(out, ", %s of %s,", epsilonName(t),
			lower(dp.GaussianEpsilon(first.Value*(1-1e-12), t.Report.Claim.Delta)))
	}
	fmt.Fprintf(out, " comes to %.2f of the most that this canary can show", share)
	printMore(t, out, share)
}

// printMore writes the share of the claim that was reached, then the runs or the time that a bound of nine tenths
// needs.
func printMore(t *attack.Attack, out io.Writer, share float64) {
	switch more := max(t.Needed, t.Report.Runs*3/2); {
	case share >= 0.9:
		fmt.Fprintln(out, ".")
	case t.Needed > 0:
		took := max(time.Second, time.Duration(float64(t.Took)/float64(t.Report.Runs)*float64(more)).Round(time.Second))
		fmt.Fprintf(out, "; 0.9 takes about %d runs, %s here: --runs %d\n", more, took, more)
	default:
		fmt.Fprintln(out, "; no number of runs comes to 0.9 of the claim: pure noise too rarely shows all of its loss at once.")
	}
}

// tooFew is printed in place of a bound if the runs were too few for any bound above 0.
const tooFew = "too few runs"

// ran reports whether the attack had enough runs for a bound above 0.
func ran(t *attack.Attack) bool {
	return slices.ContainsFunc(t.Report.Bounds, func(b audit.Bound) bool { return !b.TooFew })
}

// untested returns what was not tested with these settings and in this time.
func (r *Result) untested() []string {
	out := slices.Clone(r.notAttacked)
	for _, t := range r.attacks {
		if !ran(t) {
			out = append(out, fmt.Sprintf("attack at step %d: %s, %d", t.Canary.Step, tooFew, t.Report.Runs))
		}
	}
	return out
}

func epsilonName(t *attack.Attack) string {
	if t.Report.Claim.Delta == 0 {
		return "ε"
	}
	return "ε at δ = " + digits.Upper(t.Report.Claim.Delta)
}

// dimensions returns the dimensions of the audited components as text, for example "1 + 3".
func dimensions(a *subject.Subject) string {
	var all []string
	for _, p := range a.Components {
		all = append(all, strconv.Itoa(p.To-p.From))
	}
	return strings.Join(all, " + ")
}

// movesOf returns how far a canary moves each component.
func movesOf(a *subject.Subject, k audit.Canary) []subject.Move {
	var out []subject.Move
	for i := range a.Components {
		out = append(out, a.Move(i, a.Distance(i, k.With, k.Without)))
	}
	return out
}

// printChecks writes a line for each exact check and each test.
func (r *Result) printChecks(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "check\tlooked at\tcount\tp\tverdict\tfound, or the farthest off")
	verdict := func(holds bool) string {
		if holds {
			return "not refuted"
		}
		return "REFUTED"
	}
	for _, c := range r.checks {
		how := "exact"
		if c.Bound {
			how = "bound"
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\n", c.Name, c.Looked, c.Count, how, verdict(c.Holds), strings.TrimPrefix(c.Found, "audit: "))
	}
	for _, t := range r.tests {
		fmt.Fprintf(w, "%s\t%s\t%d\t%.2g\t%s\t%s\n", t.Name, t.Looked, t.Count, t.P, verdict(t.P >= r.limit()), t.Worst)
	}
	return w.Flush()
}

// printLeft writes what the checks could not examine.
func (r *Result) printLeft(out io.Writer) error {
	if len(r.tests) > 0 {
		rebuilt, end := ".", ""
		if r.runs > 0 {
			rebuilt, end = fmt.Sprintf(". Noise rebuilt from %d runs of %d steps", r.runs, r.steps), "."
		}
		if r.late > 0 {
			rebuilt += fmt.Sprintf(", and from %d of the private sum alone that start %d steps before a reset", r.late, audit.StepsBefore)
		}
		fmt.Fprintf(out, "\nA test fails below p = %.2g%s", r.limit(), rebuilt)
		if r.reach > 0 {
			fmt.Fprintf(out, "; a clamp of draws at up to %.2f of their scale would have shown", r.reach)
		}
		fmt.Fprintln(out, end)
	}
	for _, what := range r.untested() {
		fmt.Fprintf(out, "Not tested with these settings: %s.\n", what)
	}
	fmt.Fprintf(out, "\nNot attacked, whatever the settings: %s.\n", strings.Join(NotAttacked, "; "))
	return nil
}
