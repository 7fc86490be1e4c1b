package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"oriel/cmd/internal/audit/attack"
	"oriel/cmd/internal/audit/exact"
	"oriel/cmd/internal/audit/pairs"
	"oriel/cmd/internal/audit/presence"
	"oriel/cmd/internal/audit/residuals"
	"oriel/cmd/internal/audit/subject"
	"oriel/cmd/internal/audit/work"
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
	Progress work.Progress
}

// How an audit divides α and its time.
const (
	alphaOfAttacks  = 0.5
	timeOfAttacks   = 0.2
	timeOfResiduals = 0.2     // the far tails get the time that is left
	tailDraws       = 1 << 14 // number of draws in the far tails for each of Options.Runs
	lonelyNames     = 50      // number of names of single persons for each of Options.Runs
)

// work returns a job of Runs runs or, if Runs is 0, of as many runs as the time limit allows.
func (o Options) work(what string, limit time.Duration) work.Job {
	w := work.Job{What: what, Runs: uint64(o.Runs), Progress: o.Progress}
	if o.Runs == 0 {
		w.Runs, w.Deadline = 1<<62, time.Now().Add(limit)
	}
	return w
}

// stage runs a stage of an audit that plays no statistical runs, and shows the stage as active.
func (o Options) stage(what string, do func() error) error {
	_, finish := o.Progress(what, 0)
	defer finish()
	return do()
}

// Run runs all attacks, checks and tests on the subject.
func Run(ctx context.Context, a *subject.Subject, o Options) (*Result, error) {
	r, start := &Result{subject: a, options: o, notAttacked: a.OtherComponents()}, time.Now()
	if a.WholeMechanism.Contribution.Names > 0 {
		err := o.stage("presence of lonely and of shared names", r.named)
		r.elapsed = time.Since(start)
		return r, err
	}
	// Pairs of neighbouring streams come first, because they need no statistical runs and find the largest class of
	// faults.
	if err := o.stage("pairs of neighbouring streams", r.compareNeighbours); err != nil {
		return nil, err
	}
	if a.WholeMechanism.Batch == 0 {
		r.skip("the walk of records, and which records of a user count in a period: steps are by the clock, and the audit closes them itself")
	}
	if a.Drawing() {
		err := o.stage("exact checks", r.drawn)
		r.elapsed = time.Since(start)
		return r, err
	}
	if err := o.stage("canaries of the attacks", r.aim); err != nil {
		return nil, err
	}
	var releases []uint64
	for _, t := range r.attacks {
		releases = append(releases, t.Canary.Releases)
	}
	r.steps = residuals.Steps(a, releases)
	if a.Earliest() > r.steps {
		r.skip("noise beside contributions: an event adds nothing before step %d, and a run has %d", a.Earliest(), r.steps)
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
	u := a.Dense(a.Random("direction", 0))
	steps := attack.Positions(a, o.Position, o.Steps)
	if len(steps) == 0 {
		r.skip("attacks: an event adds nothing before step %d, which is beyond a run", a.Earliest())
	}
	for _, step := range steps {
		t, err := attack.New(a, step, u, o.Steps)
		if errors.Is(err, subject.ErrUnseen) || errors.Is(err, audit.ErrNowhere) && o.Position == 0 {
			r.skip("attack at step %d: %s", step, strings.TrimPrefix(err.Error(), "audit: "))
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
	errs := []error{r.add(exact.Tail(r.subject))}
	if _, decays := r.subject.Mechanism.Scope.Memory(); decays {
		errs = append(errs, r.add(exact.Reset(r.subject)))
		r.lateBreaks = r.restarts && r.checks[len(r.checks)-1].Holds
	}
	errs = append(errs, r.add(exact.ContributionSums(r.subject, r.steps)))
	if r.subject.HasQuantiser() {
		errs = append(errs, r.add(exact.Distances(r.subject)))
	}
	return errors.Join(errs...)
}

// compareNeighbours records and replays pairs of neighbouring streams, on the machine exactly as the settings configure
// it.
func (r *Result) compareNeighbours() (err error) {
	if r.deployed, err = r.subject.Deployed(); err != nil {
		return err
	}
	return r.add(pairs.Check(r.deployed))
}

// compareDeployed runs the other checks that compare bytes, on the machine exactly as the settings configure it.
func (r *Result) compareDeployed() error {
	a := r.deployed
	if a.Lag != r.subject.Lag {
		r.skip("attacks on and noise beside answers that wait %d steps: answers wait %d steps in these settings", a.Lag, r.subject.Lag)
	}
	steps, left, err := a.ShownSteps(r.steps)
	if err != nil {
		return err
	}
	r.notAttacked = append(r.notAttacked, left...)
	if !r.subject.Drawing() && len(r.attacks) > 0 {
		if err := r.add(attack.Repetition(a)); err != nil {
			return err
		}
	}
	restart, draws, errRestart := exact.Restarts(a, steps)
	r.restarts = restart.Holds
	if err := errors.Join(r.add(restart, errRestart), r.add(pairs.Decisions(a, steps))); err != nil {
		return err
	}
	if len(draws) > 0 {
		r.tests = append(r.tests, exact.DrawTest(a, draws))
	}
	return nil
}

// drawn runs the audit of a subject that releases only draws.
func (r *Result) drawn() error {
	a := r.subject
	r.steps = a.DrawingSteps()
	r.skip("attacks and noise of sums: none is released; the law of every draw is known, and compared, instead")
	if err := r.compareDeployed(); err != nil {
		return err
	}
	var errs []error
	if first := a.Earliest(); first > r.steps {
		r.skip("exchange: an event adds nothing before step %d, and a run has %d", first, r.steps)
	} else {
		errs = append(errs, r.add(pairs.Exchange(a, r.steps)))
	}
	if a.HasQuantiser() {
		errs = append(errs, r.add(exact.Distances(a)))
	}
	return errors.Join(errs...)
}

// named runs the audit of a subject that counts names. Another name changes the draws of all names, so no two streams
// over the same noise can be compared. Each of two attacks has a quarter of α.
func (r *Result) named() error {
	a, o := r.subject, r.options
	r.skip("the walk of records, and which names of a user count in a period: the audit closes steps itself, and sends accepted names")
	r.skip("pairs of neighbouring streams over the same noise, and residuals: a stream that counts names has a draw for each name")
	r.skip("restarts: a stream that counts names continues from parts of the changelog, not from its state alone")
	stream, err := a.Stream(a.WholeMechanism, a.WholeCalibration, a.Key())
	if err != nil {
		return err
	}
	s, alpha := presence.Stream{Stream: stream, Random: a.Random("coins", 0)}, o.Alpha*alphaOfAttacks/2
	runs, deadline := math.MaxInt, time.Now().Add(o.Time/2)
	if o.Runs > 0 {
		runs, deadline = o.Runs, time.Time{}
	}
	r.checks = append(r.checks, s.Shared(runs, deadline, alpha).Check)
	if o.Runs == 0 {
		deadline = time.Now().Add(o.Time / 2)
	}
	if runs < math.MaxInt/lonelyNames { // a name costs far less than a unit whose names others have too
		runs *= lonelyNames
	}
	r.checks = append(r.checks, s.Lonely(runs, deadline, alpha))
	return nil
}

// attack runs the attacks, each with its share of α and of the time.
func (r *Result) attack(ctx context.Context) error {
	share := 1 / float64(len(r.attacks))
	for i, t := range r.attacks {
		limit := time.Duration(float64(r.options.Time) * timeOfAttacks * share)
		w := r.options.work(fmt.Sprintf("attack at step %d, runs", t.Canary.Step), limit)
		err := t.Run(ctx, r.subject, w, r.options.Alpha*alphaOfAttacks*share, func(run audit.Run) {
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
	x, err := residual.New(a.Mechanism, a.Calibration, int(r.steps))
	if err != nil {
		r.skip("%v", err)
		return nil
	}
	if scope := a.Mechanism.Scope; a.Calibration.Levels > 1 && scope.Span() >= r.steps && !scope.ForLife() {
		r.skip("blocks after the first: a window of %d steps is longer than a run", scope.Span())
	}
	short, err := residuals.Short(a)
	if err != nil {
		return err
	}
	wide, widens := residuals.Widen(a, o.Runs*tailDraws)
	limit := time.Duration(float64(o.Time) * timeOfResiduals)
	if !widens {
		limit = time.Duration(float64(o.Time) * (1 - timeOfAttacks))
	}
	_, decays := a.Mechanism.Scope.Memory()
	if decays {
		limit /= 2
	}
	tests, runs, err := residuals.Test(ctx, a, x, r.restarts, o.work("residuals, runs", limit))
	if err != nil {
		return err
	}
	r.tests, r.runs = slices.Concat(r.tests, short, tests), runs
	if decays {
		late := residuals.BeforeReset(a)
		w := o.work("residuals at a reset, runs", limit)
		tests, r.late, err = residuals.Test(ctx, late, x.After(late.Late), r.lateBreaks, w)
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
	w := o.work("far tails, runs", limit)
	if o.Runs > 0 {
		w.Runs = uint64(wide.Runs(o.Runs * tailDraws))
	}
	tails, err := residuals.FarTails(ctx, a, wide, w)
	if err != nil {
		return err
	}
	r.tests = append(r.tests, tails.Test("far tails"))
	r.reach = tails.Reach(r.limit())
	return nil
}
