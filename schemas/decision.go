package schemas

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strconv"
)

// DecisionConfig is what every decision of a stream repeats.
type DecisionConfig struct {
	Stream         string   // decimal partition, or partition/key
	Incarnation    [16]byte // printed as 32 hex digits
	Mechanism      string
	Window, Batch  uint64  // steps; events per step
	Epsilon, Delta float64 // what is proved for one window, not what was asked for
	Adjacency      string  // replace or zero-out
	Unit           string  // what one neighbouring change is: event
}

// Decision is one line of a decision topic.
type Decision struct {
	DecisionConfig
	Index, Step uint64    // Index counts the decisions of a stream; Step is the step whose decision it is, x_{Step+1}
	Point       []float64 // dense
}

// Encoder prints the decisions of one stream. What does not change from decision to decision is printed once, by NewEncoder.
type Encoder struct {
	prefix, suffix []byte
}

// NewEncoder panics if Epsilon or Delta is not finite.
func NewEncoder(c DecisionConfig) *Encoder {
	e := &Encoder{}
	e.prefix = append(e.prefix, `{"stream":`...)
	e.prefix = appendString(e.prefix, c.Stream)
	e.prefix = append(e.prefix, `,"incarnation":"`...)
	e.prefix = hex.AppendEncode(e.prefix, c.Incarnation[:])
	e.prefix = append(e.prefix, `","index":`...)

	e.suffix = append(e.suffix, `],"mechanism":`...)
	e.suffix = appendString(e.suffix, c.Mechanism)
	e.suffix = append(e.suffix, `,"window":`...)
	e.suffix = strconv.AppendUint(e.suffix, c.Window, 10)
	e.suffix = append(e.suffix, `,"batch":`...)
	e.suffix = strconv.AppendUint(e.suffix, c.Batch, 10)
	e.suffix = append(e.suffix, `,"epsilon":`...)
	e.suffix = AppendFloat(e.suffix, c.Epsilon)
	e.suffix = append(e.suffix, `,"delta":`...)
	e.suffix = AppendFloat(e.suffix, c.Delta)
	e.suffix = append(e.suffix, `,"adjacency":`...)
	e.suffix = appendString(e.suffix, c.Adjacency)
	e.suffix = append(e.suffix, `,"unit":`...)
	e.suffix = appendString(e.suffix, c.Unit)
	e.suffix = append(e.suffix, '}')
	return e
}

// Append appends one decision, without a line end. The point must be finite.
func (e *Encoder) Append(dst []byte, index, step uint64, point []float64) []byte {
	dst = append(dst, e.prefix...)
	dst = strconv.AppendUint(dst, index, 10)
	dst = append(dst, `,"step":`...)
	dst = strconv.AppendUint(dst, step, 10)
	dst = append(dst, `,"decision":[`...)
	for k, x := range point {
		if k > 0 {
			dst = append(dst, ',')
		}
		dst = AppendFloat(dst, x)
	}
	return append(dst, e.suffix...)
}

// appendString prints a JSON string with the fewest escapes; bytes that are not UTF-8 become U+FFFD.
func appendString(dst []byte, s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic("BUG: schemas: a string has no JSON form")
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}
