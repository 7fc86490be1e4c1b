package schemas

import (
	"encoding/hex"
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
	Form           Form    // of the point
}

// Decision is one line of a decision topic.
type Decision struct {
	DecisionConfig
	Index, Step uint64        // Index counts the decisions of a stream; Step is the step whose decision it is, x_{Step+1}
	Point       []float64     // all coordinates, whatever the form
	Extras      []ExtraMember // what stands behind the members of all decisions, in its order; nil for nothing
}

// Encoder prints the decisions of one stream. What does not change from decision to decision is printed once, by
// NewEncoder. Encoders that Of made of one another are used one at a time.
type Encoder struct {
	prefix, suffix []byte
	extras         []Extra
	names          [][]byte // of the extras, as they stand between two values
	bins           *bins    // nil: decisions are dense
}

// NewEncoder panics if Epsilon or Delta is not finite, or if the extras break a rule of Extra.
func NewEncoder(c DecisionConfig, extras []Extra) *Encoder {
	if err := checkExtras(extras); err != nil {
		panic("BUG: " + err.Error())
	}
	e := &Encoder{prefix: prefix(c.Stream, c.Incarnation), extras: extras}
	if c.Form == Sparse {
		e.bins = &bins{}
	}
	e.suffix = append(e.suffix, `,"mechanism":`...)
	e.suffix = AppendString(e.suffix, c.Mechanism)
	e.suffix = append(e.suffix, `,"window":`...)
	e.suffix = strconv.AppendUint(e.suffix, c.Window, 10)
	e.suffix = append(e.suffix, `,"batch":`...)
	e.suffix = strconv.AppendUint(e.suffix, c.Batch, 10)
	e.suffix = append(e.suffix, `,"epsilon":`...)
	e.suffix = AppendFloat(e.suffix, c.Epsilon)
	e.suffix = append(e.suffix, `,"delta":`...)
	e.suffix = AppendFloat(e.suffix, c.Delta)
	e.suffix = append(e.suffix, `,"adjacency":`...)
	e.suffix = AppendString(e.suffix, c.Adjacency)
	e.suffix = append(e.suffix, `,"unit":`...)
	e.suffix = AppendString(e.suffix, c.Unit)
	for _, x := range extras {
		e.names = append(e.names, []byte(`,"`+x.Name+`":`))
	}
	return e
}

// Of returns an encoder of another stream, which repeats everything else that e does.
func (e *Encoder) Of(stream string, incarnation [16]byte) *Encoder {
	other := *e
	other.prefix = prefix(stream, incarnation)
	return &other
}

func prefix(stream string, incarnation [16]byte) []byte {
	b := make([]byte, 0, len(`{"stream":"","incarnation":"","index":`)+len(stream)+2*len(incarnation))
	b = append(b, `{"stream":`...)
	b = AppendString(b, stream)
	b = append(b, `,"incarnation":"`...)
	b = hex.AppendEncode(b, incarnation[:])
	return append(b, `","index":`...)
}

// Append appends one decision, without a line end. The point must be finite. extras are the values of all extras, in
// their order, or none.
func (e *Encoder) Append(dst []byte, index, step uint64, point []float64, extras []ExtraValue) []byte {
	if len(extras) != 0 && len(extras) != len(e.extras) {
		panic("BUG: schemas: a decision has some extra members and not the others")
	}
	dst = append(dst, e.prefix...)
	dst = strconv.AppendUint(dst, index, 10)
	dst = append(dst, `,"step":`...)
	dst = strconv.AppendUint(dst, step, 10)
	dst = append(dst, `,"decision":`...)
	if e.bins != nil {
		dst = e.bins.append(dst, point)
	} else {
		dst = appendNumbers(dst, point)
	}
	dst = append(dst, e.suffix...)
	for i := range extras {
		dst = append(dst, e.names[i]...)
		dst = extras[i].append(dst, e.extras[i].Kind)
	}
	return append(dst, '}')
}

func appendNumbers(dst []byte, numbers []float64) []byte {
	dst = append(dst, '[')
	for k, x := range numbers {
		if k > 0 {
			dst = append(dst, ',')
		}
		dst = AppendFloat(dst, x)
	}
	return append(dst, ']')
}
