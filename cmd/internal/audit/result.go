package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"oriel/cmd/internal/audit/attack"
	"oriel/cmd/internal/audit/subject"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/audit/residual"
)

// Result holds the findings of an audit, with its subject.
type Result struct {
	subject     *subject.Subject
	deployed    *subject.Subject // the machine exactly as the settings configure it
	options     Options
	attacks     []*attack.Attack
	scores      []audit.Run // runs of the first attack
	checks      []subject.Check
	tests       []residual.Test
	notAttacked []string // tests that are impossible with these settings, with the reasons
	steps       uint64   // steps of a residual run
	restarts    bool     // the restart check passed, so half of the residual runs are restarted
	lateBreaks  bool     // the reset check passed too, so runs before a reset are restarted
	runs        uint64
	late        uint64  // number of residual runs that start shortly before a reset; runs does not count them
	reach       float64 // the audit would have detected a clamp of draws at this many scales or fewer; 0: unknown
	elapsed     time.Duration
}

// skip notes a test that is impossible with these settings, with the reason.
func (r *Result) skip(format string, args ...any) {
	r.notAttacked = append(r.notAttacked, fmt.Sprintf(format, args...))
}

// add appends a check to the result, and returns the error of the check.
func (r *Result) add(c subject.Check, err error) error {
	r.checks = append(r.checks, c)
	return err
}

// limit returns the p-value below which a test fails.
func (r *Result) limit() float64 {
	return r.options.Alpha * (1 - alphaOfAttacks) / float64(max(1, len(r.tests)))
}

// A result refutes a machine by one of these errors, by audit.ErrClaim or by audit.ErrLaw.
var (
	ErrCheck = errors.New("audit: the machine differs from the one that its proof covers")
	ErrNoise = errors.New("audit: the noise is not the calibration's")
)

// Err returns nil, or an error that joins all refuted claims. For a correct machine, the probability of an error is at
// most Alpha.
func (r *Result) Err() error {
	var errs []error
	for _, c := range r.checks {
		if !c.Holds {
			errs = append(errs, fmt.Errorf("%w: %s: %s", ErrCheck, c.Name, c.Found))
		}
	}
	for _, t := range r.attacks {
		if err := t.Report.Err(); err != nil {
			errs = append(errs, fmt.Errorf("canary at step %d: %w", t.Canary.Step, err))
		}
	}
	for _, t := range r.tests {
		if t.P < r.limit() {
			errs = append(errs, fmt.Errorf("%w: %s: %s (p below %.2g)", ErrNoise, t.Name, t.Worst, t.P))
		}
	}
	return errors.Join(errs...)
}

// Verdict returns the error of Err with advice on what to do.
func (r *Result) Verdict() error {
	if err := r.Err(); err != nil {
		return fmt.Errorf("%w\na false alarm has probability %g at most: repeat with another seed, and stop the service if it stays",
			err, r.options.Alpha)
	}
	return nil
}

// Scores returns the runs of the first attack as CSV: whether the run has the canary, and its score.
func (r *Result) Scores() []byte {
	b := []byte("canary,score\n")
	for _, run := range r.scores {
		bit := byte('0')
		if run.Canary {
			bit = '1'
		}
		b = strconv.AppendFloat(append(b, bit, ','), run.Score, 'g', -1, 64)
		b = append(b, '\n')
	}
	return b
}

// NotAttacked lists what no audit examines. deploy/PRIVACY.md has the same list.
var NotAttacked = []string{
	"decoding, the header that names a user, the pipeline beyond its walk of records, sealing, and times",
	"records that several deployments read",
	"the configured actions, in attacks and residuals: for these checks `bandit` acts along coordinates, and `sets` explores from the start (the checks of repetition, restart and decisions use the configured actions)",
	"the configured choice of steps to publish, in attacks and residuals: for these checks the machine publishes each step's decision (the checks of repetition, restart and decisions use the configured choice)",
	"the contribution of a reward that comes in the same step as its context",
	"canaries in streams that adapt to releases (residuals see contributions that follow decisions)",
	"ages and steps beyond the length of a run: 2.5 W up to W = 1024, W + W/2 + 1024 above it, one block above W = 170 000 (the private sum alone runs across resets of a memory)",
	"a second canary above W = 10 000, or of a pure tree",
	"the sampler's own tails beyond the reach of its draws, which the table prints",
	"bias and dependence that are too small for the number of runs, or between coordinates other than the 1024 compared",
	"noise below 2¹² lattice units (ε above some 10⁴)",
}

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
	Parts []subject.Move `json:"parts,omitempty"`
}

type attackJSON struct {
	Canary  canaryJSON `json:"canary"`
	Seconds float64    `json:"seconds"`
	Needed  int        `json:"runs_for_nine_tenths,omitempty"` // omitted if no number of runs is enough
	audit.Report
}

// PrintJSON writes the result as one JSON object.
func (r *Result) PrintJSON(out io.Writer) error {
	g := r.subject.Guarantee
	var attacks []attackJSON
	for _, t := range r.attacks {
		k, moves := t.Canary, movesOf(r.subject, t.Canary)
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
		Checks    []subject.Check `json:"checks"`
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
		g.Mechanism, scope.Window, scope.Memory, g.Unit.Figures().Among, g.Batch, r.subject.Mechanism.Dimension(),
		g.Unit.Adjacency().String(), g.Unit.Name(),
		r.elapsed.Seconds(), r.options.Alpha, attacks, r.checks, r.tests, r.limit(), r.runs, r.steps,
		r.reach, r.late, r.untested(), NotAttacked, verdict,
	})
}
