package auditor

import (
	"encoding/json"
	"io"

	"oriel/mechanisms/audit"
	"oriel/mechanisms/audit/residual"
)

// The verdicts of a whole audit, as the JSON output has them.
const (
	notRefuted = "not refuted"
	refuted    = "refuted"
)

type canaryJSON struct {
	Step        uint64  `json:"step"`
	Age         uint64  `json:"age"`
	Events      uint64  `json:"events"`
	Spacing     uint64  `json:"spacing"`
	Distance    float64 `json:"distance"`
	Sensitivity float64 `json:"sensitivity"`
	// by component; omitted if there is one component. Distance and Sensitivity are those of the first component
	Parts []Move `json:"parts,omitempty"`
}

type attackJSON struct {
	Canary  canaryJSON `json:"canary"`
	Seconds float64    `json:"seconds"`
	Needed  int        `json:"runs_for_nine_tenths,omitempty"` // omitted if no number of runs is enough
	audit.Report
}

// PrintJSON writes the result as one JSON object.
func (r *Result) PrintJSON(out io.Writer) error {
	g := r.subject.guarantee
	var attacks []attackJSON
	for _, t := range r.attacks {
		k, moves := t.Canary, r.subject.moves(t.Canary)
		canary := canaryJSON{
			Step: k.Step, Age: k.Age(), Events: k.Count, Spacing: k.Spacing,
			Distance: moves[0].Distance, Sensitivity: moves[0].Sensitivity,
		}
		if len(moves) > 1 {
			canary.Parts = moves
		}
		attacks = append(attacks, attackJSON{Canary: canary, Seconds: t.Took.Seconds(), Needed: t.Needed, Report: t.Report})
	}
	verdict := notRefuted
	if r.Err() != nil {
		verdict = refuted
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	scope := g.Scope.Figures()
	return encoder.Encode(struct {
		Mechanism string          `json:"mechanism"`
		Window    uint64          `json:"window"`
		Memory    uint64          `json:"memory,omitempty"`
		Users     uint64          `json:"user_window,omitempty"`
		Batch     uint64          `json:"batch"`
		Dimension int             `json:"dimension"`
		Adjacency string          `json:"adjacency"`
		Unit      string          `json:"unit"`
		Seconds   float64         `json:"seconds"`
		Alpha     float64         `json:"alpha"`
		Attacks   []attackJSON    `json:"attacks"`
		Checks    []Check         `json:"checks"`
		Tests     []residual.Test `json:"tests"`
		Fails     float64         `json:"test_fails_below"`
		Runs      uint64          `json:"residual_runs"`
		Steps     uint64          `json:"residual_steps"`
		Reach     float64         `json:"clamp_that_would_show,omitempty"`
		Late      uint64          `json:"residual_runs_at_a_reset,omitempty"`
		Left      []string        `json:"not_tested,omitempty"`
		Never     []string        `json:"not_attacked"`
		Verdict   string          `json:"verdict"`
	}{
		g.Mechanism, scope.Window, scope.Memory, g.Unit.Figures().Among, g.Batch, r.subject.mechanism.Dimension(),
		g.Unit.Adjacency().String(), g.Unit.Name(),
		r.elapsed.Seconds(), r.options.Alpha, attacks, r.checks, r.tests, r.limit(), r.runs, r.steps,
		r.reach, r.late, r.untested(), NotAttacked, verdict,
	})
}
