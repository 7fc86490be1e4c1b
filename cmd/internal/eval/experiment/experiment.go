package experiment

import (
	"context"
	"math"

	"oriel/cmd/internal/eval"
	"oriel/operators"
	"oriel/pipeline/streams"
	"oriel/schemas/decision"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

// machine runs experiments over the records of all streams, with the noise of a seed or without noise.
type machine struct {
	*eval.Runner
	of    *operators.Experiment
	lines [][]byte   // by stream: the newest decision, if look has not read it yet; else empty
	ran   [][]*trial // results by stream, then by experiment
	truth bool       // the machine also counts outcomes by arm, for the true effects
	now   uint64     // number of the experiment of the current record; 0: none
}

// trial holds the results of one experiment of a stream.
type trial struct {
	last  operators.Findings
	found []float64 // by treatment arm: number of events when the verdict first named the arm; 0: never
	path  []point   // results at looks, thinned to mostPoints
	every int
	seen  int

	arms []moments // outcomes by arm; only if the machine counts them
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

func newMachine(m streams.Model, of *operators.Experiment, streams, seed int) (*machine, error) {
	x := &machine{of: of, lines: make([][]byte, streams), ran: make([][]*trial, streams), truth: seed == 0}
	others := len(of.Arms) - 1
	for i := range x.ran {
		for range max(1, len(of.Steps)) {
			x.ran[i] = append(x.ran[i], &trial{
				found: make([]float64, others), arms: make([]moments, len(of.Arms)), peek: make([]peeking, others), every: 1,
			})
		}
	}
	var err error
	x.Runner, err = eval.NewRunner(m, streams, seed, func(stream int32, line []byte) error {
		x.lines[stream] = append(x.lines[stream][:0], line...)
		return nil
	})
	if err == nil && x.truth {
		x.counting()
	}
	return x, err
}

// takeAll takes records, and reads each decision that they cause.
func (x *machine) takeAll(items []eval.Item) error {
	for _, i := range items {
		x.now = x.of.Of(x.Step(i.Stream))
		if err := x.Take(i); err != nil {
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
func (x *machine) look(stream int32, line []byte) error {
	d, err := decision.Parse(line)
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

// keep adds a look to the path. The choice of looks depends only on their number, so all machines keep the same looks.
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

// counting makes the machine count the outcomes of the experiment by arm.
func (x *machine) counting() {
	var event event.Event
	x.Accepted = func(stream int32, value []byte) {
		if x.now == 0 || x.Decode(&event, value) != text.OK {
			return
		}
		if arm, y := x.of.Assigned(event); arm >= 0 {
			m := &x.ran[stream][x.now-1].arms[arm]
			m.n, m.sum, m.squares = m.n+1, m.sum+y, m.squares+y*y
		}
	}
}

// New runs settings over the source, and the same operators without noise.
func New(ctx context.Context, in eval.Input, source eval.Source) (*Report, error) {
	totals := source.Totals()
	entries, machines, err := eval.Enter(in,
		func(_ int, e *eval.Entry[*machine], m streams.Model, seed int) (*machine, error) {
			return newMachine(m, operators.ExperimentOf(e.Operator), len(totals), seed)
		})
	if err != nil {
		return nil, err
	}
	feed, events := eval.Feed[*machine, eval.Item]{Machines: machines, Take: (*machine).takeAll}, 0
	if err := eval.Read(ctx, source, func(i eval.Item) error {
		events++
		return feed.Add(i)
	}); err != nil {
		return nil, err
	}
	if err := feed.Flush(); err != nil {
		return nil, err
	}
	return newReport(in, entries, events, len(totals))
}
