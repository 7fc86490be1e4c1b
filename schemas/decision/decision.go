package decision

import (
	"encoding/hex"
	"slices"
	"strconv"

	"oriel/schemas/text"
)

// Config holds the members that are the same in every decision of a stream.
type Config struct {
	Stream         string   // public id: decimal partition, partition/key, or the topic; not empty
	Incarnation    [16]byte // written as 32 hex digits in JSON
	Mechanism      string
	Window, Batch  uint64  // W, steps; B, events per step, 0 by the clock
	Seconds        uint64  // length of a step by the clock, for an Encoder; Parse leaves the member among the extras
	Epsilon, Delta float64 // proved for one window; they may be smaller than requested
	Adjacency      string  // replace, zero-out or add-remove
	Unit           string  // what differs between neighbouring streams: event, user or user-period
	Form           Form    // dense or sparse encoding of the point
	Encoding       Encoding
	SchemaID       uint32 // registry id of the encoding's schema; 0: records name none. JSON has no id
}

// Decision is one record of a decision topic.
type Decision struct {
	Config
	Index, Step uint64        // Index numbers the decisions of a stream; Step is the step of the decision, x_{Step+1}
	Point       []float64     // all coordinates, in either form
	Extras      []ExtraMember // members after the common ones, in the operator's order; nil for none
}

// AppendLine appends a published decision as a line of JSON without its end: JSON stays unchanged, any other encoding
// is converted to JSON. It returns ErrFormat for bytes that are not a decision.
func AppendLine(dst, published []byte) ([]byte, error) {
	if len(published) > 0 && published[0] == startOfJSON {
		return append(dst, published...), nil
	}
	d, err := Parse(published)
	if err != nil {
		return dst, err
	}
	return d.appendJSON(dst), nil
}

func (d *Decision) appendJSON(dst []byte) []byte {
	c := d.Config
	c.Encoding, c.SchemaID = JSON, 0
	dst = NewEncoder(c, nil).Append(dst, d.Index, d.Step, d.Point, nil)
	dst = dst[:len(dst)-1] // removes the closing brace
	for _, x := range d.Extras {
		dst = append(append(text.AppendString(append(dst, ','), x.Name), ':'), x.JSON...)
	}
	return append(dst, '}')
}

// NoTime is the time of a decision without a time.
const NoTime int64 = -1

// LatestTime is the last millisecond of the year 9999, UTC: the greatest time that a decision can have.
const LatestTime int64 = 253402300799999

// Members after those of the operator: the length of a step by the clock in seconds, and after all others the time of
// a decision in milliseconds since 1970, UTC.
const (
	secondsMember = "seconds"
	timeMember    = "time"
)

// Time returns the greatest timestamp of the records in the decision's step or, by the clock, the end of the step, in
// milliseconds since 1970, UTC. It returns NoTime if the decision does not have it.
func (d *Decision) Time() int64 {
	if ms, ok := d.member(timeMember); ok {
		return ms
	}
	return NoTime
}

// StepMillis returns the length of a step by the clock in milliseconds, 0 by count, or a negative number if the member
// is not a number of seconds.
func (d *Decision) StepMillis() int64 {
	seconds, ok := d.member(secondsMember)
	if ok && (seconds == 0 || seconds > LatestTime/1000) {
		return -1
	}
	return seconds * 1000
}

// member returns a member that is a whole number, or −1 if it is not one from 0 to LatestTime.
func (d *Decision) member(name string) (n int64, ok bool) {
	for _, x := range d.Extras {
		if x.Name != name {
			continue
		}
		n, err := strconv.ParseInt(x.JSON, 10, 64)
		if err != nil || n < 0 || n > LatestTime {
			n = -1
		}
		return n, true
	}
	return 0, false
}

// Encoder encodes the decisions of one stream. NewEncoder encodes the constant members once. Of makes encoders that
// share memory with the first one, so only one of them may be used at a time.
type Encoder struct {
	encoder        encoder
	config         Config // of the decisions; Of changes the stream
	header         []byte
	prefix, suffix []byte // encoded bytes before the index, including the header, and after the point
	extras         []Extra
	names          [][]byte // encoded bytes of each extra before its value
	time           []byte   // encoded bytes of timeMember before its value
	seconds        []byte   // encoded bytes of secondsMember with its value; nil: steps by count
	bins           *bins    // sorts coordinates by value for sparse decisions; nil: decisions are dense
}

// encoder is one encoding of decisions.
type encoder interface {
	header(schemaID uint32) []byte                     // bytes that identify the schema to readers
	prefix(stream string, incarnation [16]byte) []byte // bytes between the header and the index
	suffix(c Config) []byte
	name(extra string) []byte
	number(name []byte, n uint64) []byte // a whole member with a number
	append(e *Encoder, dst []byte, index, step uint64, time int64, point []float64, extras []ExtraValue) []byte
}

var encoders = [...]encoder{JSON: jsonEncoder{}, Protobuf: protobufEncoder{}, Avro: avroEncoder{}}

// NewEncoder returns an encoder. It panics if Epsilon or Delta is not finite, if the extras break a rule of Extra, or
// if Protobuf and Avro have no code for Adjacency or Unit.
func NewEncoder(c Config, extras []Extra) *Encoder {
	if err := checkExtras(extras); err != nil {
		panic("BUG: " + err.Error())
	}
	e := &Encoder{encoder: encoders[c.Encoding], config: c, extras: extras}
	e.header, e.suffix = e.encoder.header(c.SchemaID), e.encoder.suffix(c)
	e.prefix = slices.Concat(e.header, e.encoder.prefix(c.Stream, c.Incarnation))
	if c.Form == Sparse {
		e.bins = &bins{}
	}
	for _, x := range extras {
		e.names = append(e.names, e.encoder.name(x.Name))
	}
	e.time = e.encoder.name(timeMember)
	if c.Seconds > 0 {
		e.seconds = e.encoder.number(e.encoder.name(secondsMember), c.Seconds)
	}
	return e
}

// Of returns an encoder for another stream, with the same configuration otherwise.
func (e *Encoder) Of(stream string, incarnation [16]byte) *Encoder {
	other := *e
	other.config.Stream, other.config.Incarnation = stream, incarnation
	other.prefix = slices.Concat(e.header, e.encoder.prefix(stream, incarnation))
	return &other
}

// Append is AppendTimed for a decision without a time.
func (e *Encoder) Append(dst []byte, index, step uint64, point []float64, extras []ExtraValue) []byte {
	return e.AppendTimed(dst, index, step, NoTime, point, extras)
}

// AppendTimed appends one decision, without a line end. The point must be finite. extras must hold the values of all
// extras, in their order, or none. time must be NoTime, or from 0 to LatestTime.
func (e *Encoder) AppendTimed(
	dst []byte, index, step uint64, time int64, point []float64, extras []ExtraValue,
) []byte {
	if len(extras) != 0 && len(extras) != len(e.extras) {
		panic("BUG: schemas: a decision has some extra members and not the others")
	}
	return e.encoder.append(e, dst, index, step, time, point, extras)
}

// Decision returns the decision that Parse reads from the output of AppendTimed for the same values.
func (e *Encoder) Decision(index, step uint64, time int64, point []float64, extras []ExtraValue) Decision {
	d := Decision{Config: e.config, Index: index, Step: step, Point: make([]float64, len(point))}
	for i, x := range point {
		d.Point[i] = x + 0 // adding 0 turns −0 into 0
	}
	for i := range extras {
		x := &e.extras[i]
		d.Extras = append(d.Extras, ExtraMember{x.Name, string(extras[i].appendJSON(nil, x.Kind))})
	}
	if d.Seconds > 0 {
		d.Extras = append(d.Extras, ExtraMember{secondsMember, strconv.FormatUint(d.Seconds, 10)})
		d.Seconds = 0
	}
	if time >= 0 {
		d.Extras = append(d.Extras, ExtraMember{timeMember, strconv.FormatInt(time, 10)})
	}
	return d
}

// jsonEncoder encodes decisions in JSON.
type jsonEncoder struct{}

func (jsonEncoder) header(uint32) []byte { return nil }

func (jsonEncoder) prefix(stream string, incarnation [16]byte) []byte {
	b := make([]byte, 0, len(`{"stream":"","incarnation":"","index":`)+len(stream)+2*len(incarnation))
	b = append(b, `{"stream":`...)
	b = text.AppendString(b, stream)
	b = append(b, `,"incarnation":"`...)
	b = hex.AppendEncode(b, incarnation[:])
	return append(b, `","index":`...)
}

func (jsonEncoder) suffix(c Config) (b []byte) {
	b = append(b, `,"mechanism":`...)
	b = text.AppendString(b, c.Mechanism)
	b = append(b, `,"window":`...)
	b = strconv.AppendUint(b, c.Window, 10)
	b = append(b, `,"batch":`...)
	b = strconv.AppendUint(b, c.Batch, 10)
	b = append(b, `,"epsilon":`...)
	b = text.AppendFloat(b, c.Epsilon)
	b = append(b, `,"delta":`...)
	b = text.AppendFloat(b, c.Delta)
	b = append(b, `,"adjacency":`...)
	b = text.AppendString(b, c.Adjacency)
	b = append(b, `,"unit":`...)
	return text.AppendString(b, c.Unit)
}

func (jsonEncoder) name(extra string) []byte { return []byte(`,"` + extra + `":`) }

func (jsonEncoder) number(name []byte, n uint64) []byte { return strconv.AppendUint(name, n, 10) }

func (jsonEncoder) append(
	e *Encoder, dst []byte, index, step uint64, time int64, point []float64, extras []ExtraValue,
) []byte {
	dst = append(dst, e.prefix...)
	dst = strconv.AppendUint(dst, index, 10)
	dst = append(dst, `,"step":`...)
	dst = strconv.AppendUint(dst, step, 10)
	dst = append(dst, `,"decision":`...)
	if e.bins != nil {
		dst = e.bins.appendJSON(dst, point)
	} else {
		dst = appendNumbers(dst, point)
	}
	dst = append(dst, e.suffix...)
	for i := range extras {
		dst = append(dst, e.names[i]...)
		dst = extras[i].appendJSON(dst, e.extras[i].Kind)
	}
	dst = append(dst, e.seconds...)
	if time >= 0 {
		dst = strconv.AppendInt(append(dst, e.time...), time, 10)
	}
	return append(dst, '}')
}

func appendNumbers(dst []byte, numbers []float64) []byte {
	dst = append(dst, '[')
	for k, x := range numbers {
		if k > 0 {
			dst = append(dst, ',')
		}
		dst = text.AppendFloat(dst, x)
	}
	return append(dst, ']')
}
