package numbers

import (
	"errors"
	"fmt"
	"io"

	"oriel/schemas/decision"
	"oriel/schemas/text"
)

// maxLine bounds the length of a line in a file of decisions, bytes.
const maxLine = 64 << 20

// ErrUntimed reports decisions without a time. Unlike a topic, a file has no record timestamps that could replace it.
var ErrUntimed = errors.New("a decision without a time, because no record of its step has a timestamp: a file does not say " +
	"when it was published; read its topic")

// AddLines takes decisions from a file of JSON lines, in the format of `oriel tail --raw`.
func (c *Collector) AddLines(r io.Reader) error { return addLines(r, c.Add) }

func addLines(r io.Reader, add func(d decision.Decision, ms int64) error) error {
	for line, err := range text.NewLines(r, maxLine).All() {
		if err != nil {
			return err
		}
		if len(line.Value) == 0 {
			continue
		}
		d, err := decision.Parse(line.Value)
		if err == nil && d.Time() == decision.NoTime {
			err = ErrUntimed
		}
		if err == nil {
			err = add(d, d.Time())
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", line.Number+1, err)
		}
	}
	return nil
}
