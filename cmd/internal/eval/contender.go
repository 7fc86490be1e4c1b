package eval

import (
	"errors"
	"fmt"
	"math"

	"oriel/operators"
	"oriel/pipeline"
	"oriel/pipeline/kafka"
	"oriel/schemas"
)

// event is a record as all contenders see it, and keep only while they look.
type event struct {
	Item
	decoded schemas.Event
	valid   bool
	stretch int
}

// contender predicts events and learns from them.
type contender interface {
	// predict returns the loss, weight included, and the prediction of a valid event.
	predict(e *event) (loss, prediction float64)
	learn(e *event) error
}

func predict(rule *operators.Score, x []float64, e *event) (loss, prediction float64) {
	if rule.Predicts != operators.Nothing {
		prediction = rule.Predict(x, e.decoded)
	}
	return rule.Loss(x, e.decoded), prediction
}

// machine is an operator over the records of all streams, as the service runs it.
type machine struct {
	rule    *operators.Score
	walks   []*pipeline.Walk
	points  [][]float64 // the newest decision of each stream
	record  [1]kafka.Record
	reasons map[schemas.Code]int // of null events
	first   string               // the first null event
	err     error
}

// newMachine opens the streams of a model. A stream is a partition, each with noise of its own.
func newMachine(m pipeline.Model, rule *operators.Score, streams int, seed int) (*machine, error) {
	plan, err := m.Plan()
	if err != nil {
		return nil, err
	}
	seat, err := pipeline.NewSeat(m, plan)
	if err != nil {
		return nil, err
	}
	c := &machine{rule: rule, reasons: map[schemas.Code]int{}}
	for p := range int32(streams) {
		stream, err := open(m, plan, seat, p, seed)
		if err != nil {
			return nil, err
		}
		walk := &pipeline.Walk{
			Stream: stream, Partition: p,
			Decided: func(output uint8, line []byte) { c.decided(p, output, line) },
			Taken:   func(r *kafka.Record, _ int64, code schemas.Code) { c.taken(p, r, code) },
		}
		c.points = append(c.points, rule.Start)
		c.walks = append(c.walks, walk)
		walk.Start()
	}
	return c, c.err
}

func (c *machine) decided(stream int32, output uint8, line []byte) {
	if output > 0 {
		return
	}
	d, err := schemas.ParseDecision(line)
	if err != nil {
		c.err = err
		return
	}
	c.points[stream] = d.Point
}

func (c *machine) taken(stream int32, r *kafka.Record, code schemas.Code) {
	if code == schemas.OK {
		return
	}
	if c.reasons[code]++; c.first == "" {
		c.first = fmt.Sprintf("record %d of stream %d: %s", r.Offset, stream, code)
	}
}

func (c *machine) predict(e *event) (loss, prediction float64) {
	return predict(c.rule, c.points[e.Stream], e)
}

func (c *machine) learn(e *event) error {
	walk := c.walks[e.Stream]
	c.record[0] = e.Record
	b := kafka.Batch{From: walk.Position.Next, Next: e.Record.Offset + 1, Records: c.record[:]}
	err := walk.Take(&b, func() int64 { return b.Next })
	if errors.Is(err, pipeline.ErrEnded) {
		return fmt.Errorf("record %d of stream %d: the horizon is reached: the stream ends after %d steps (ORIEL_HORIZON)",
			e.Record.Offset, e.Stream, walk.Stream.Steps())
	}
	return errors.Join(err, c.err)
}

// base predicts what fits all events before best, whatever their features: the share of label 1, the mean, the
// quantile. Where nothing is predicted it is the first decision, which never moves. It knows the labels exactly: no
// privacy.
type base struct {
	rule    *operators.Score
	streams []baseStream
	point   [1]float64
}

type baseStream struct {
	ones, weight float64
	mean         spread
	quantile     *quantile
}

func newBase(rule *operators.Score, streams int) *base {
	b := &base{rule: rule, streams: make([]baseStream, streams)}
	if rule.Predicts == operators.Quantile {
		for i := range b.streams {
			b.streams[i].quantile = newQuantile(rule.Level)
		}
	}
	return b
}

func (b *base) predict(e *event) (loss, prediction float64) {
	s := &b.streams[e.Stream]
	switch b.rule.Predicts {
	case operators.LogOdds:
		prediction = s.odds()
	case operators.Side:
		prediction = math.Copysign(1, s.odds())
	case operators.Mean:
		prediction = s.mean.mean
	case operators.Quantile:
		prediction = s.quantile.value()
	case operators.Nothing:
		return b.rule.Loss(b.rule.Start, e.decoded), 0
	}
	b.point[0] = prediction
	alone := schemas.Event{Vector: schemas.Vector{Values: []float64{1}}, Label: e.decoded.Label, Weight: e.decoded.Weight}
	return b.rule.Loss(b.point[:], alone), prediction
}

// odds are the log-odds of label 1 with half an event of each class beforehand (Krichevsky and Trofimov, 1981).
func (s *baseStream) odds() float64 { return math.Log((s.ones + 0.5) / (s.weight - s.ones + 0.5)) }

func (b *base) learn(e *event) error {
	if !e.valid {
		return nil
	}
	s, w := &b.streams[e.Stream], e.decoded.Weight
	s.weight += w
	if e.decoded.Label > 0 {
		s.ones += w
	}
	s.mean.add(e.decoded.Label, w)
	if s.quantile != nil {
		s.quantile.add(e.decoded.Label, w)
	}
	return nil
}
