package attack

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"oriel/cmd/internal/audit/subject"
	"oriel/cmd/internal/audit/work"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/audit/definition"
	"oriel/mechanisms/protection"
)

// Attack tries to distinguish two streams that differ in one event, the canary.
type Attack struct {
	Canary audit.Canary
	Report audit.Report
	Needed int // number of runs whose bound reaches 0.9 of Report.Reach; 0 if no number of runs does
	Took   time.Duration

	Law       *audit.Law
	direction []float64 // direction of the canary's contribution
	// contributions depend on earlier releases; law is computed for the contributions at a stream's start
	follows bool
}

// Default steps of the canary, and limits of an attack.
const (
	lastPosition = 1 << 14 // largest number of releases of a run; only the test of residuals covers later steps
	afterFirst   = 9       // step of the second canary if the mechanism has no blocks
)

// Positions returns the steps of the canaries, each followed for age releases (see Age). position is the only step, or
// 0. Otherwise the steps are the first step of the stream, and a step in the middle of the second
// block, where a tree also contains noise of the block before.
func Positions(a *subject.Subject, position, age uint64) []uint64 {
	if position > 0 {
		return []uint64{position}
	}
	span, end, first := a.Mechanism.Scope.Span(), a.Mechanism.Scope.End(), a.Earliest()
	if first > end || first > 1 && first+Age(a, first, age) > lastPosition {
		return nil
	}
	second := span + span/2 + 1
	for span > 0 && second <= first {
		second += span
	}
	switch {
	case a.Guarantee.Mu == 0 && span > 0:
		return []uint64{first} // the worst contribution of a tree with pure noise is in the first step
	case span == 0:
		return []uint64{first, first - 1 + afterFirst}
	case end != protection.Endless && end > first:
		return []uint64{first, max(first, end/2) + 1}
	case end != protection.Endless || second+Age(a, second, age) > lastPosition:
		return []uint64{first}
	default:
		return []uint64{first, second}
	}
}

// Age returns the number of releases for which a canary is followed: age or, if age is 0, the window.
func Age(a *subject.Subject, step, age uint64) uint64 {
	if age > 0 {
		return age
	}
	m := a.Mechanism
	// With decaying sums, the attack follows all of a user's events, and the time over which the last event decays.
	steps := max(1, min(m.Scope.Span()+min(m.Unit.Figures().Among, subject.LongestAttack), subject.LongestAttack))
	if end := m.Scope.End(); end >= step {
		steps = min(steps, end-(step-1))
	}
	return steps
}

// New returns an attack on a canary at this step, along the direction u, followed for age releases.
func New(a *subject.Subject, step uint64, u []float64, age uint64) (*Attack, error) {
	if first := a.Earliest(); step < first {
		return nil, fmt.Errorf("--position %d: with these settings an event adds nothing before step %d", step, first)
	}
	k, err := audit.NewCanary(a.Mechanism, step, Age(a, step, age))
	if err != nil {
		return nil, fmt.Errorf("--position %d, --steps %d: %w", step, age, err)
	}
	if k.With, k.Without, err = a.Contributions(u); err != nil {
		return nil, err
	}
	t := &Attack{Canary: k, direction: u}
	if t.Law, err = audit.NewLaw(a.Mechanism, a.Calibration, k); err != nil {
		return nil, err
	}
	t.follows, err = follows(a, t)
	return t, err
}

// play returns the audit.Play that runs the attack on the machine of p.
func (t *Attack) play(p *subject.Player) audit.Play {
	return func(run uint64, canary bool, observe func(release []float64)) error {
		if t.follows {
			x, err := t.aimed(p, run)
			if err != nil {
				return err
			}
			all := observe
			observe = func(release []float64) { all(x.lay(release)) }
		}
		if err := p.Begin(run); err != nil {
			return err
		}
		s := p.Sender(t.direction, t.Canary.At)
		at, seen := subject.IdentitiesOf(run), make([]float64, len(p.Contribution))
		offset := make([]float64, len(p.Contribution)) // sum of the centres of all contributions in the release
		for step := uint64(1); step <= t.Canary.Releases; step++ {
			for i := range offset {
				offset[i] *= definition.Kept(p.Subject.Calibration)
			}
			for place := range int(p.Subject.Places()) {
				c, sent := s.At(step, place)
				r := subject.In(c, canary)
				r.Identity = at.Next()
				known := p.Centre
				if adds := p.Add(r); adds && sent && !c.Exchanged && p.Subject.Lag == 0 {
					known = p.Contribution // both runs contain this event
				}
				for i, m := range known {
					offset[i] += m
				}
			}
			for i, y := range p.Sum() {
				seen[i] = y - offset[i]
			}
			observe(seen)
		}
		return nil
	}
}

// MaxRuns is the largest planned number of runs. It bounds the memory for scores.
const MaxRuns = 1 << 22

// Run runs the attack with α. If the runs have a deadline, it plays as many of them as help and fit. It calls take with
// each run, without the run's releases.
func (t *Attack) Run(ctx context.Context, a *subject.Subject, w work.Job, alpha float64, take func(audit.Run)) error {
	start := time.Now()
	if needed, ok := t.Law.RunsFor(0.9, a.Guarantee.Delta, alpha); ok {
		t.Needed = needed
	}
	if limit := w.Deadline.Sub(start); !w.Deadline.IsZero() {
		each, err := t.cost(a, limit)
		if err != nil {
			return err
		}
		needed := t.Needed
		if needed == 0 {
			needed = MaxRuns
		}
		w.Runs = uint64(max(work.LeastRuns, min(needed, int(limit/each), MaxRuns)))
	}
	count, err := audit.New(t.Law, a.Guarantee, int(w.Runs), alpha)
	if err != nil {
		return err
	}
	err = work.Do(ctx, w, func() (func(uint64) (audit.Run, error), error) {
		p, err := a.Open()
		if err != nil {
			return nil, err
		}
		play, observer := t.play(p), t.Law.Observe()
		return func(number uint64) (audit.Run, error) {
			coin := audit.Coin(a.Secret, number)
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
func (t *Attack) cost(a *subject.Subject, limit time.Duration) (time.Duration, error) {
	p, err := a.Open()
	if err != nil {
		return 0, err
	}
	const most = 4
	play, observer := t.play(p), t.Law.Observe()
	start, tries := time.Now(), time.Duration(0)
	for ; tries == 0 || tries < most && time.Since(start) <= limit/most; tries++ {
		if err := play(math.MaxUint64, true, observer.Release); err != nil {
			return 0, err
		}
		observer.Result(true)
	}
	return max(1, time.Since(start)/tries/time.Duration(runtime.GOMAXPROCS(0))), nil
}
