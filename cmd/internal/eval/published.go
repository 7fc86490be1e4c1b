package eval

import "oriel/operators"

// Published returns the published decisions of a stream one by one, in the order of steps.
type Published func() ([]float64, error)

// reader is a contender that takes its decisions from a topic or a file, one for each record.
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
