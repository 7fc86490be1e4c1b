package eval

import (
	"context"
	"errors"
	"math"
	"slices"

	"oriel/cmd/internal/settings"
	"oriel/operators"
	"oriel/pipeline/streams"
	"oriel/schemas"
)

// Tests reports whether the settings configure an experiment, which NewExperiment can evaluate.
func Tests(s settings.Settings) bool { return operators.ExperimentOf(s.Learner().Operator()) != nil }

// subject runs experiments over the records of all streams, with the noise of a seed or without noise.
type subject struct {
	*runner
	of    *operators.Experiment
	lines [][]byte   // by stream: the newest decision, if look has not read it yet; else empty
	ran   [][]*trial // results by stream, then by experiment
	truth bool       // the subject also counts outcomes by arm, for the true effects
	turn  uint64     // number of the experiment of the current record; 0: none
}

// trial holds the results of one experiment of a stream.
type trial struct {
	last  operators.Findings
	found []float64 // by treatment arm: number of events when the verdict first named the arm; 0: never
	path  []point   // results at looks, thinned to mostPoints
	every int
	seen  int

	arms []moments // outcomes by arm; only if the subject counts them
	peek []peeking // analyst who peeks, by treatment arm
}

// point is the result at one look.
type point struct {
	events  float64
	effects []operators.Estimate // effects at the look, by treatment arm
	truth   []float64            // by treatment arm: mean of all events so far minus the control's mean; NaN: no events
	peeked  []operators.Estimate
}

// moments holds count, sum and sum of squares of an arm's outcomes.
type moments struct{ n, sum, squares float64 }

// peeking simulates an analyst who looks often, and each time uses a test that is valid for a single look.
type peeking struct {
	now   operators.Estimate // the difference of means ± 1.96 standard errors, at the last look
	first float64            // number of events when the interval first excluded 0; 0: never
	back  int                // number of later looks whose interval contains 0
}

// mostPoints bounds the looks of a stream that are kept for the plot. If there are more, every second look is dropped.
const mostPoints = 512

func newSubject(m streams.Model, of *operators.Experiment, streams, seed int) (*subject, error) {
	x := &subject{of: of, lines: make([][]byte, streams), ran: make([][]*trial, streams), truth: seed == 0}
	others := len(of.Arms) - 1
	for i := range x.ran {
		for range max(1, len(of.Steps)) {
			x.ran[i] = append(x.ran[i], &trial{
				found: make([]float64, others), arms: make([]moments, len(of.Arms)), peek: make([]peeking, others), every: 1,
			})
		}
	}
	var err error
	x.runner, err = newRunner(m, streams, seed, func(stream int32, line []byte) error {
		x.lines[stream] = append(x.lines[stream][:0], line...)
		return nil
	})
	return x, err
}

// takeAll takes records, and reads each decision that they cause.
func (x *subject) takeAll(items []Item) error {
	for _, i := range items {
		x.turn = x.of.Of(x.walks[i.Stream].Stream.Steps() + 1)
		if err := x.take(i); err != nil {
			return err
		}
		if line := x.lines[i.Stream]; len(line) > 0 {
			if err := x.look(i.Stream, line); err != nil {
				return err
			}
			x.lines[i.Stream] = line[:0]
		}
	}
	return nil
}

// look reads a decision, and adds its effects to the results.
func (x *subject) look(stream int32, line []byte) error {
	d, err := schemas.ParseDecision(line)
	if err != nil {
		return err
	}
	f, err := x.of.Read(d)
	if err != nil {
		return err
	}
	t := x.ran[stream][f.Number-1]
	if t.last = f; f.Events < x.of.Looks {
		return nil
	}
	p := point{events: t.last.Events}
	for k, e := range t.last.Effects {
		if e.Better && t.found[k] == 0 {
			t.found[k] = t.last.Events
		}
		p.effects = append(p.effects, e.Estimate)
		if x.truth {
			t.peek[k].look(t.arms[k+1], t.arms[0], t.last.Events)
			p.truth, p.peeked = append(p.truth, t.peek[k].now.Value), append(p.peeked, t.peek[k].now)
		}
	}
	t.keep(p)
	return nil
}

// keep adds a look to the path. The choice of looks depends only on their number, so all subjects keep the same looks.
func (t *trial) keep(p point) {
	if t.seen++; (t.seen-1)%t.every != 0 {
		return
	}
	if t.path = append(t.path, p); len(t.path) <= mostPoints {
		return
	}
	t.every *= 2
	for i := 0; 2*i < len(t.path); i++ {
		t.path[i] = t.path[2*i]
	}
	t.path = t.path[:(len(t.path)+1)/2]
}

// look updates the analyst's interval at one look.
func (p *peeking) look(arm, control moments, events float64) {
	half := 1.959964 * math.Sqrt(arm.error()+control.error())
	value := arm.sum/arm.n - control.sum/control.n
	p.now = operators.Estimate{Value: value, Low: value - half, High: value + half, Shown: true}
	switch out := p.now.Low > 0 || p.now.High < 0; {
	case out && p.first == 0:
		p.first = events
	case !out && p.first > 0:
		p.back++
	}
}

// error returns the squared standard error of the mean of the outcomes.
func (m moments) error() float64 {
	mean := m.sum / m.n
	return max(0, m.squares/m.n-mean*mean) / m.n
}

// counting makes the subject count the outcomes of the experiment by arm.
func (x *subject) counting() {
	var event schemas.Event
	x.accepted = func(stream int32, value []byte) {
		if x.turn == 0 || x.decoder.Decode(&event, value) != schemas.OK {
			return
		}
		if arm, y := x.of.Assigned(event); arm >= 0 {
			m := &x.ran[stream][x.turn-1].arms[arm]
			m.n, m.sum, m.squares = m.n+1, m.sum+y, m.squares+y*y
		}
	}
}

// contest runs one setting of an experiment: with the noise of each seed, and without noise.
type contest struct {
	row     ExperimentRow
	of      *operators.Experiment
	private []*subject
	exact   *subject
}

// NewExperiment runs settings over the source, and the same operators without noise.
func NewExperiment(ctx context.Context, in Input, source Source) (*ExperimentReport, error) {
	var all []*contest
	var subjects []*subject
	totals := source.Totals()
	exacts := map[string]*subject{} // subjects without noise, by learner
	for _, s := range in.Settings {
		c, err := newContest(s, in.Seeds, len(totals), exacts)
		if err != nil {
			return nil, err
		}
		all, subjects = append(all, c), append(subjects, c.private...)
		if !slices.Contains(subjects, c.exact) {
			subjects = append(subjects, c.exact)
		}
	}
	var items []Item
	events := 0
	run := func() error {
		err := each(subjects, func(x *subject) error { return x.takeAll(items) })
		in.Progress(len(items))
		events += len(items)
		items = items[:0]
		return err
	}
	if err := source.Each(ctx, func(i Item) error {
		if items = append(items, i); len(items) < chunk {
			return ctx.Err()
		}
		return errors.Join(ctx.Err(), run())
	}); err != nil {
		return nil, err
	}
	if err := run(); err != nil {
		return nil, err
	}
	return newExperimentReport(in, all, events, len(totals))
}

func newContest(s settings.Settings, seeds, streams int, exacts map[string]*subject) (*contest, error) {
	model, row, err := configured(s)
	if err != nil {
		return nil, err
	}
	c := &contest{of: operators.ExperimentOf(model.Learner.Operator()), row: ExperimentRow{rowHead: row.head()}}
	for seed := range seeds {
		x, err := newSubject(model, c.of, streams, seed+1)
		if err != nil {
			return nil, err
		}
		c.private = append(c.private, x)
	}
	if c.exact = exacts[row.learner]; c.exact != nil {
		return c, nil
	}
	exact, err := silenced(s, operators.NumbersOf(model.Learner.Operator()).Exact)
	if err != nil {
		return nil, err
	}
	c.exact, err = newSubject(exact, c.of, streams, 0)
	if err == nil {
		c.exact.counting()
	}
	exacts[row.learner] = c.exact
	return c, err
}
