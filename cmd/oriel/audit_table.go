package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"
	"time"

	"oriel/cmd/internal/plan"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/dp"
)

// lower writes a lower bound with four significant digits, never above its value.
func lower(x float64) string {
	text := strconv.FormatFloat(x, 'g', 4, 64)
	if shown, err := strconv.ParseFloat(text, 64); err != nil || shown <= x {
		return text
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-3)
	return strconv.FormatFloat(x-unit/2, 'g', 4, 64) // rounds to the next four digits below
}

func (r auditResult) print(out io.Writer) error {
	g, k, report := r.guarantee, r.subject.canary, r.report
	window := fmt.Sprintf("W = %d", g.Window)
	if g.Window == 0 {
		window = "each event released once"
	}
	fmt.Fprintf(out, "%s, %s, B = %d, d = %d, adjacency %s, unit %s\n", g.Mechanism, window, g.Batch, r.subject.mechanism.Dimension, g.Adjacency, g.Unit)
	events := "one event"
	if k.Count > 1 {
		events = fmt.Sprintf("%d events of one user, %d steps apart", k.Count, k.Spacing)
	}
	fmt.Fprintf(out, "canary: %s, from step %d, followed to age %d; each leaf moves by %.6g of %.6g\n", events, k.Step, k.Age(), k.Distance(), r.farthest())
	fmt.Fprintf(out, "runs: %d, %d of them with the canary, in %s; false alarm with probability %g at most\n\n",
		report.Runs, report.WithCanary, r.took.Round(10*time.Millisecond), report.Alpha)

	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "loss\tstatistic\tclaim\tthis canary\tlower bound\tof the claim\tright guesses\t")
	for _, b := range report.Bounds {
		name := "µ"
		if b.Currency == "epsilon" {
			name = r.epsilonName()
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%.3f\t%d of %d\t\n", name, b.Statistic, plan.Upper(b.Claim), plan.Upper(b.Law), lower(b.Value), b.Value/b.Claim, b.Right, b.Guesses)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out, "\nThis canary: the most that any test can find at its step and age, if the noise is the plan's.")
	first := report.Bounds[0]
	if first.Currency == "mu" && first.Value > 0 {
		fmt.Fprintf(out, "A µ of %s is %s of %s.\n", lower(first.Value), r.epsilonName(), lower(dp.GaussianEpsilon(first.Value*(1-1e-12), report.Claim.Delta)))
	}
	if report.Err() != nil {
		return nil
	}
	share := first.Value / report.Reach
	fmt.Fprintf(out, "No bound exceeds its claim. The first comes to %.2f of what this canary can show", share)
	switch more := max(r.needed, report.Runs*3/2); {
	case share >= 0.9:
		fmt.Fprintln(out, ".")
	case r.reachable:
		took := max(time.Second, time.Duration(float64(r.took)/float64(report.Runs)*float64(more)).Round(time.Second))
		fmt.Fprintf(out, "; 0.9 takes about %d runs, %s here: --runs %d\n", more, took, more)
	default:
		fmt.Fprintln(out, "; no number of runs comes to 0.9: pure noise too rarely shows all of its loss at once.")
	}
	return nil
}

func (r auditResult) epsilonName() string {
	if r.report.Claim.Delta == 0 {
		return "ε"
	}
	return "ε at δ = " + plan.Upper(r.report.Claim.Delta)
}

// farthest is the sensitivity, loss units.
func (r auditResult) farthest() float64 {
	if r.guarantee.Adjacency == dp.ZeroOut && r.guarantee.Separation == 0 {
		return r.subject.plan.Grid.Clip()
	}
	return 2 * r.subject.plan.Grid.Clip()
}

// verdict is nil, or why the claim does not hold.
func (r auditResult) verdict() error {
	if err := r.report.Err(); err != nil {
		return fmt.Errorf("%w; a false alarm has probability %g at most: repeat with another seed, and stop the service if it stays", err, r.report.Alpha)
	}
	return nil
}

// printJSON prints one object.
func (r auditResult) printJSON(out io.Writer) error {
	type canary struct {
		Step        uint64  `json:"step"`
		Age         uint64  `json:"age"`
		Events      uint64  `json:"events"`
		Spacing     uint64  `json:"spacing"`
		Distance    float64 `json:"distance"`
		Sensitivity float64 `json:"sensitivity"`
	}
	g, k := r.guarantee, r.subject.canary
	verdict := "holds"
	if r.report.Err() != nil {
		verdict = "refuted"
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(struct {
		Mechanism string  `json:"mechanism"`
		Window    uint64  `json:"window"`
		Batch     uint64  `json:"batch"`
		Dimension int     `json:"dimension"`
		Adjacency string  `json:"adjacency"`
		Unit      string  `json:"unit"`
		Canary    canary  `json:"canary"`
		Seconds   float64 `json:"seconds"`
		Needed    int     `json:"runs_for_nine_tenths,omitempty"` // absent where no number of runs is enough
		audit.Report
		Verdict string `json:"verdict"`
	}{
		g.Mechanism, g.Window, g.Batch, r.subject.mechanism.Dimension, g.Adjacency.String(), g.Unit,
		canary{k.Step, k.Age(), k.Count, k.Spacing, k.Distance(), r.farthest()},
		r.took.Seconds(), map[bool]int{true: r.needed}[r.reachable], r.report, verdict,
	})
}
