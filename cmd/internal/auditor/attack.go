package auditor

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"oriel/mechanisms/audit"
	"oriel/mechanisms/protection"
)

// Attack tries to distinguish two streams that differ in one event, the canary.
type Attack struct {
	Canary audit.Canary
	Report audit.Report
	Needed int // number of runs whose bound reaches 0.9 of Report.Reach; 0 if no number of runs does
	Took   time.Duration

	law       *audit.Law
	direction []float64 // direction of the canary's contribution
	// contributions depend on earlier releases; law is computed for the contributions at a stream's start
	follows bool
}

// Default steps of the canary, and limits of an attack.
const (
	longestAttack = 1024    // largest number of releases for which a canary is followed
	lastPosition  = 1 << 14 // largest number of releases of a run; only the test of residuals covers later steps
	afterFirst    = 9       // step of the second canary if the mechanism has no blocks
)

// positions returns the steps of the canaries: the first step of the stream, and a step in the middle of the second
// block, where a tree also contains noise of the block before.
func (a *Subject) positions(o Options) []uint64 {
	if o.Position > 0 {
		return []uint64{o.Position}
	}
	span, end, first := a.mechanism.Scope.Span(), a.mechanism.Scope.End(), a.earliest()
	if first > end || first > 1 && first+a.followed(first, o) > lastPosition {
		return nil
	}
	second := span + span/2 + 1
	for span > 0 && second <= first {
		second += span
	}
	switch {
	case a.guarantee.Mu == 0 && span > 0:
		return []uint64{first} // the worst contribution of a tree with pure noise is in the first step
	case span == 0:
		return []uint64{first, first - 1 + afterFirst}
	case end != protection.Endless && end > first:
		return []uint64{first, max(first, end/2) + 1}
	case end != protection.Endless || second+a.followed(second, o) > lastPosition:
		return []uint64{first}
	default:
		return []uint64{first, second}
	}
}

// followed returns the number of releases for which a canary is followed.
func (a *Subject) followed(step uint64, o Options) uint64 {
	if o.Steps > 0 {
		return o.Steps
	}
	m := a.mechanism
	// With decaying sums, the attack follows all of a user's events, and the time over which the last event decays.
	steps := max(1, min(m.Scope.Span()+min(m.Unit.Figures().Among, longestAttack), longestAttack))
	if end := m.Scope.End(); end >= step {
		steps = min(steps, end-(step-1))
	}
	return steps
}

// newAttack returns an attack on a canary at this step, along the direction u.
func (a *Subject) newAttack(step uint64, u []float64, o Options) (*Attack, error) {
	if first := a.earliest(); step < first {
		return nil, fmt.Errorf("--position %d: with these settings an event adds nothing before step %d", step, first)
	}
	k, err := audit.NewCanary(a.mechanism, step, a.followed(step, o))
	if err != nil {
		return nil, fmt.Errorf("--position %d, --steps %d: %w", step, o.Steps, err)
	}
	if k.With, k.Without, err = a.contributions(u); err != nil {
		return nil, err
	}
	t := &Attack{Canary: k, direction: u}
	if t.law, err = audit.NewLaw(a.mechanism, a.calibration, k); err != nil {
		return nil, err
	}
	t.follows, err = a.follows(t)
	return t, err
}

// play returns the audit.Play that runs the attack on the machine of p.
func (t *Attack) play(p *player) audit.Play {
	return func(run uint64, canary bool, observe func(release []float64)) error {
		if t.follows {
			x, err := t.aimed(p, run)
			if err != nil {
				return err
			}
			all := observe
			observe = func(release []float64) { all(x.lay(release)) }
		}
		if err := p.begin(); err != nil {
			return err
		}
		s := &canarySender{player: p, direction: t.direction, canary: canary, due: t.Canary.At}
		at, seen := placesOf(run), make([]float64, len(p.contribution))
		offset := make([]float64, len(p.contribution)) // sum of the centres of all contributions in the release
		for step := uint64(1); step <= t.Canary.Releases; step++ {
			for i := range offset {
				offset[i] *= p.subject.retained()
			}
			for place := range p.subject.mechanism.Batch {
				r, echo := s.at(step, place)
				r.Identity = at.next()
				known := p.centre
				if adds := p.add(r); adds && echo && p.subject.lag == 0 {
					known = p.contribution // both runs contain this event
				}
				for i, m := range known {
					offset[i] += m
				}
			}
			for i, y := range p.sum() {
				seen[i] = y - offset[i]
			}
			observe(seen)
		}
		return nil
	}
}

// MaxRuns is the largest planned number of runs. It bounds the memory for scores.
const MaxRuns = 1 << 22

// run runs the attack with a share of α and of the time. It calls take with each run, without the run's releases.
func (t *Attack) run(ctx context.Context, a *Subject, o Options, share float64, limit time.Duration,
	take func(audit.Run),
) error {
	alpha := o.Alpha * share
	if needed, ok := t.law.RunsFor(0.9, a.guarantee.Delta, alpha); ok {
		t.Needed = needed
	}
	runs, start := o.Runs, time.Now()
	if runs == 0 {
		each, err := t.cost(a, limit)
		if err != nil {
			return err
		}
		needed := t.Needed
		if needed == 0 {
			needed = MaxRuns
		}
		runs = max(leastRuns, min(needed, int(limit/each), MaxRuns))
	}
	count, err := audit.New(t.law, a.guarantee, runs, alpha)
	if err != nil {
		return err
	}
	w := repeatedRuns{
		what: fmt.Sprintf("attack at step %d, runs", t.Canary.Step), runs: uint64(runs), progress: o.Progress,
	}
	if o.Runs == 0 {
		w.deadline = start.Add(limit)
	}
	err = do(ctx, w, func() (func(uint64) (audit.Run, error), error) {
		p, err := a.open()
		if err != nil {
			return nil, err
		}
		play, observer := t.play(p), t.law.Observe()
		return func(number uint64) (audit.Run, error) {
			coin := audit.Coin(a.secret, number)
			if err := play(number, coin, observer.Release); err != nil {
				return audit.Run{}, err
			}
			return observer.Result(coin), nil
		}, nil
	}, func(r audit.Run) {
		count.Add(r)
		take(r.WithoutReleases())
	})
	t.Report, t.Took = count.Report(), time.Since(start)
	for i := range t.Report.Bounds {
		if b := &t.Report.Bounds[i]; t.follows {
			// law was computed for other contributions than this run's, so only the claim bounds the run
			b.Law = b.Claim
		}
	}
	return err
}

// cost measures the time of one run, divided by the number of processors. It repeats the measurement unless a run takes
// a large share of the time limit.
func (t *Attack) cost(a *Subject, limit time.Duration) (time.Duration, error) {
	p, err := a.open()
	if err != nil {
		return 0, err
	}
	const most = 4
	play, observer := t.play(p), t.law.Observe()
	start, tries := time.Now(), time.Duration(0)
	for ; tries == 0 || tries < most && time.Since(start) <= limit/most; tries++ {
		if err := play(math.MaxUint64, true, observer.Release); err != nil {
			return 0, err
		}
		observer.Result(true)
	}
	return max(1, time.Since(start)/tries/time.Duration(runtime.GOMAXPROCS(0))), nil
}

// Attack runs only the first attack of an audit, with all of α and all of Options.Time.
func (a *Subject) Attack(ctx context.Context, o Options) (*Attack, error) {
	if a.drawing() {
		return nil, fmt.Errorf("audit: %s releases no sum that could be attacked", a.mechanism.Name)
	}
	t, err := a.newAttack(a.positions(o)[0], a.dense(a.random("direction", 0)), o)
	if err != nil {
		return nil, err
	}
	return t, t.run(ctx, a, o, 1, o.Time, func(audit.Run) {})
}
