package auditor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"oriel/mechanisms/audit"
	"oriel/mechanisms/audit/residual"
)

// Options configures an audit. At most one of Runs and Time may be set.
type Options struct {
	Runs     int           // number of runs of each attack and of the residuals; 0: as many as fit in Time
	Time     time.Duration // limit for preparation and all runs together
	Position uint64        // step of the canary; 0: two canaries, at step 1 and in the second block
	Steps    uint64        // releases for which a canary is followed; 0: the window, at most 1024
	Alpha    float64       // upper bound on the probability of a false alarm
	Progress Progress
}

// How an audit divides α and its time.
const (
	alphaOfAttacks  = 0.5
	timeOfAttacks   = 0.2
	timeOfResiduals = 0.2     // the far tails get the time that is left
	tailDraws       = 1 << 14 // number of draws in the far tails for each of Options.Runs
)

// Result holds the findings of an audit, with its subject.
type Result struct {
	subject     *Subject
	deployed    *Subject // the machine exactly as the settings configure it
	options     Options
	attacks     []*Attack
	scores      []audit.Run // runs of the first attack
	checks      []Check
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

// Audit runs all attacks, checks and tests on the subject.
func (a *Subject) Audit(ctx context.Context, o Options) (*Result, error) {
	r, start := &Result{subject: a, options: o, notAttacked: a.otherComponents()}, time.Now()
	// Pairs of neighbouring streams come first, because they need no statistical runs and find the largest class of
	// faults.
	if err := o.stage("pairs of neighbouring streams", r.compareNeighbours); err != nil {
		return nil, err
	}
	if a.drawing() {
		err := o.stage("exact checks", r.drawn)
		r.elapsed = time.Since(start)
		return r, err
	}
	if err := o.stage("canaries of the attacks", r.aim); err != nil {
		return nil, err
	}
	r.steps = a.backgroundSteps(r.attacks)
	if a.earliest() > r.steps {
		r.notAttacked = append(r.notAttacked, fmt.Sprintf("noise beside contributions: an event adds nothing before step %d, and a run has %d", a.earliest(), r.steps))
	}
	if err := o.stage("exact checks", r.compare); err != nil {
		return nil, err
	}
	r.options.Time = max(0, o.Time-time.Since(start)) // the time left for runs
	if err := r.attack(ctx); err != nil {
		return nil, err
	}
	if err := r.rebuild(ctx); err != nil {
		return nil, err
	}
	r.elapsed = time.Since(start)
	return r, nil
}

// aim creates the attacks on every position at which an event contributes within a run.
func (r *Result) aim() error {
	a, o := r.subject, r.options
	u := a.dense(a.random("direction", 0))
	steps := a.positions(o)
	if len(steps) == 0 {
		r.notAttacked = append(r.notAttacked, fmt.Sprintf("attacks: an event adds nothing before step %d, which is beyond a run", a.earliest()))
	}
	for _, step := range steps {
		t, err := a.newAttack(step, u, o)
		if errors.Is(err, errUnseen) || errors.Is(err, audit.ErrNowhere) && o.Position == 0 {
			text := strings.TrimPrefix(err.Error(), "audit: ")
			r.notAttacked = append(r.notAttacked, fmt.Sprintf("attack at step %d: %s", step, text))
			continue
		}
		if err != nil {
			return err
		}
		r.attacks = append(r.attacks, t)
	}
	return nil
}

// compare runs the exact checks. It also tests the exponential-mechanism draws that these checks record.
func (r *Result) compare() error {
	if err := r.compareDeployed(); err != nil {
		return err
	}
	errs := []error{r.add(r.subject.tail())}
	if _, decays := r.subject.mechanism.Scope.Memory(); decays {
		errs = append(errs, r.add(r.subject.reset()))
		r.lateBreaks = r.restarts && r.checks[len(r.checks)-1].Holds
	}
	errs = append(errs, r.add(r.subject.contributionSums(r.steps)))
	if r.subject.hasQuantiser() {
		errs = append(errs, r.add(r.subject.distances()))
	}
	return errors.Join(errs...)
}

// add appends a check to the result, and returns the error of the check.
func (r *Result) add(c Check, err error) error {
	r.checks = append(r.checks, c)
	return err
}

// compareNeighbours records and replays pairs of neighbouring streams, on the machine exactly as the settings configure
// it.
func (r *Result) compareNeighbours() (err error) {
	if r.deployed, err = r.subject.deployed(); err != nil {
		return err
	}
	return r.add(r.deployed.neighbours())
}

// compareDeployed runs the other checks that compare bytes, on the machine exactly as the settings configure it.
func (r *Result) compareDeployed() error {
	a := r.deployed
	if a.lag != r.subject.lag {
		r.notAttacked = append(r.notAttacked, fmt.Sprintf("attacks on and noise beside answers that wait %d steps: answers wait %d steps in these settings", a.lag, r.subject.lag))
	}
	steps, left, err := a.shownSteps(r.steps)
	if err != nil {
		return err
	}
	r.notAttacked = append(r.notAttacked, left...)
	if !r.subject.drawing() && len(r.attacks) > 0 {
		if err := r.add(a.repetition()); err != nil {
			return err
		}
	}
	restart, decisions, draws, err := a.replays(steps)
	if err != nil {
		return err
	}
	r.restarts = restart.Holds
	r.checks = append(r.checks, restart, decisions)
	if len(draws) > 0 {
		r.tests = append(r.tests, a.drawTest(draws))
	}
	return nil
}

func (r *Result) attack(ctx context.Context) error {
	share := 1 / float64(len(r.attacks))
	for i, t := range r.attacks {
		limit := time.Duration(float64(r.options.Time) * timeOfAttacks * share)
		err := t.run(ctx, r.subject, r.options, alphaOfAttacks*share, limit, func(run audit.Run) {
			if i == 0 {
				r.scores = append(r.scores, run)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// rebuild runs the tests of the noise. They compute the noise as a release minus the known contributions.
func (r *Result) rebuild(ctx context.Context) error {
	a, o := r.subject, r.options
	x, err := residual.New(a.mechanism, a.calibration, int(r.steps))
	if err != nil {
		r.notAttacked = append(r.notAttacked, err.Error())
		return nil
	}
	if scope := a.mechanism.Scope; a.calibration.Levels > 1 && scope.Span() >= r.steps && !scope.ForLife() {
		r.notAttacked = append(r.notAttacked, fmt.Sprintf("blocks after the first: a window of %d steps is longer than a run", scope.Span()))
	}
	short, err := a.short()
	if err != nil {
		return err
	}
	wide, widens := a.widen(o.Runs * tailDraws)
	limit := time.Duration(float64(o.Time) * timeOfResiduals)
	if !widens {
		limit = time.Duration(float64(o.Time) * (1 - timeOfAttacks))
	}
	_, decays := a.mechanism.Scope.Memory()
	if decays {
		limit /= 2
	}
	tests, runs, err := a.residuals(ctx, x, r.restarts, o.work("residuals, runs", o.Runs, limit))
	if err != nil {
		return err
	}
	r.tests, r.runs = slices.Concat(r.tests, short, tests), runs
	if decays {
		late := a.beforeReset()
		w := o.work("residuals at a reset, runs", o.Runs, limit)
		tests, r.late, err = late.residuals(ctx, x.After(late.late), r.lateBreaks, w)
		if err != nil {
			return err
		}
		for i := range tests {
			tests[i].Name += " at a reset"
		}
		r.tests = append(r.tests, tests...)
	}
	if !widens {
		return nil
	}
	limit = time.Duration(float64(o.Time) * (1 - timeOfAttacks - timeOfResiduals))
	tails, err := a.farTails(ctx, wide, o.work("far tails, runs", wide.runs(o.Runs*tailDraws), limit))
	if err != nil {
		return err
	}
	r.tests = append(r.tests, tails.Test("far tails"))
	r.reach = tails.Reach(r.limit())
	return nil
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

// Scores returns the runs of the first attack.
func (r *Result) Scores() []audit.Run { return r.scores }
