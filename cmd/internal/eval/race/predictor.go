package race

import (
	"math"
	"slices"

	"oriel/cmd/internal/eval"
	"oriel/operators"
	"oriel/pipeline/streams"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// scoredEvent is a record that all predictors share. A predictor must not keep it after it has taken the event's tasks.
type scoredEvent struct {
	eval.Item
	decoded event.Event
	valid   bool
	stretch int
	due     int64 // when its label is known: a time, ms, or a number of events of its stream
	known   bool  // whether its label is known
	learned bool
}

// predictor predicts events and learns from them.
type predictor interface {
	// predict returns the loss, weight included, and the prediction of a valid event.
	predict(e *scoredEvent) (loss, prediction float64)
	learn(e *scoredEvent) error
}

func predict(rule *operators.Score, x []float64, e *scoredEvent) (loss, prediction float64) {
	if rule.Predicts.Labels() {
		prediction = rule.Predict(x, e.decoded)
	}
	return rule.Loss(x, e.decoded), prediction
}

// machine is an operator that runs over the records of all streams and predicts with its newest decisions.
type machine struct {
	*eval.Runner
	rule   *operators.Score
	points [][]float64  // the newest decision of each stream
	bands  [][2]float64 // ends of each stream's newest band, if decisions have one
}

// newMachine opens the streams of a model.
func newMachine(m streams.Model, rule *operators.Score, streams int, seed int) (*machine, error) {
	c := &machine{rule: rule, points: slices.Repeat([][]float64{rule.Start}, streams)}
	if band := rule.Band; band != nil {
		c.bands = slices.Repeat([][2]float64{{band.Low, band.High}}, streams)
	}
	var err error
	c.Runner, err = eval.NewRunner(m, streams, seed, func(stream int32, line []byte) error {
		d, err := decision.Parse(line)
		if err == nil {
			c.points[stream] = d.Point
			err = c.takeBand(stream, d.Extras)
		}
		return err
	})
	return c, err
}

func (c *machine) predict(e *scoredEvent) (loss, prediction float64) {
	return predict(c.rule, c.points[e.Stream], e)
}

func (c *machine) learn(e *scoredEvent) error { return c.Take(e.Item) }

// baseRate predicts the best constant for all earlier events: the share of label 1, the mean, or the quantile. If the
// operator predicts nothing, baseRate stays at the first decision. It knows the labels exactly, without privacy.
type baseRate struct {
	rule    *operators.Score
	streams []baseStream
	point   [1]float64
}

type baseStream struct {
	ones, weight float64
	mean         spread
	quantile     *quantile
}

func newBase(rule *operators.Score, streams int) *baseRate {
	b := &baseRate{rule: rule, streams: make([]baseStream, streams)}
	if rule.Predicts == operators.Quantile {
		for i := range b.streams {
			b.streams[i].quantile = newQuantile(rule.Level)
		}
	}
	return b
}

func (b *baseRate) predict(e *scoredEvent) (loss, prediction float64) {
	s := &b.streams[e.Stream]
	switch b.rule.Predicts {
	case operators.LogOdds:
		prediction = s.logOdds()
	case operators.Side:
		prediction = math.Copysign(1, s.logOdds())
	case operators.Mean:
		prediction = s.mean.mean
	case operators.Quantile:
		prediction = s.quantile.value()
	case operators.Nothing, operators.Growth:
		return b.rule.Loss(b.rule.Start, e.decoded), 0
	}
	b.point[0] = prediction - b.rule.Offset
	alone := event.Event{Vector: event.Vector{Values: []float64{1}}, Label: e.decoded.Label, Weight: e.decoded.Weight}
	return b.rule.Loss(b.point[:], alone), prediction
}

// logOdds returns the log-odds of label 1, with half an event of each class added (Krichevsky and Trofimov, 1981).
func (s *baseStream) logOdds() float64 { return math.Log((s.ones + 0.5) / (s.weight - s.ones + 0.5)) }

func (b *baseRate) learn(e *scoredEvent) error {
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

// Published returns the published decisions of a stream one by one, in the order of steps.
type Published func() ([]float64, error)

// reader is a predictor that takes its decisions from a topic or a file, one for each record.
type reader struct {
	rule   *operators.Score
	next   []Published // decisions by stream
	points [][]float64
}

func newReader(rule *operators.Score, next []Published) *reader {
	r := &reader{rule: rule, next: next}
	for range next {
		r.points = append(r.points, rule.Start)
	}
	return r
}

func (r *reader) predict(e *scoredEvent) (loss, prediction float64) {
	return predict(r.rule, r.points[e.Stream], e)
}

func (r *reader) learn(e *scoredEvent) (err error) {
	r.points[e.Stream], err = r.next[e.Stream]()
	return err
}
