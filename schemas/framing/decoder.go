package framing

import (
	"fmt"

	"oriel/schemas/event"
	"oriel/schemas/text"
)

// open opens a decoder of events.
type open = func(event.Config) (event.Decoder, error)

// CloudEvents returns a function that opens decoders of CloudEvents, whose events the inner decoder reads. binary means
// that the events are not JSON.
func CloudEvents(inner open, binary bool) open {
	return func(c event.Config) (event.Decoder, error) {
		return newDecoder(c, inner, (&cloudEvent{binary: binary}).content)
	}
}

// ConfluentJSON returns a function that opens decoders of JSON in Confluent's framing. JSON names its own members, so
// the id is ignored.
func ConfluentJSON(inner open) open {
	return func(c event.Config) (event.Decoder, error) {
		return newDecoder(c, inner, func(record []byte) ([]byte, text.Code) {
			_, rest, ok := Header(record)
			if !ok {
				return nil, text.UnknownFraming
			}
			return rest, text.OK
		})
	}
}

// EventOf returns the event in a CloudEvent in structured mode; ok is false if the record is not one. binary means that
// the event is not JSON.
func EventOf(record []byte, binary bool) (event []byte, ok bool) {
	event, code := (&cloudEvent{binary: binary}).content(record)
	return event, code == text.OK
}

// decoder removes the framing before another decoder reads.
type decoder struct {
	inner    event.Decoder
	content  func(record []byte) ([]byte, text.Code)
	maxBytes int
	inside   bool // whether the framing of the last record was valid
}

func newDecoder(
	c event.Config, inner open, content func(record []byte) ([]byte, text.Code),
) (event.Decoder, error) {
	d, err := inner(c)
	if err != nil {
		return nil, err
	}
	return &decoder{inner: d, content: content, maxBytes: c.MaxBytes}, nil
}

// Decode implements event.Decoder.
func (d *decoder) Decode(dst *event.Event, record []byte) text.Code {
	d.inside = false
	switch {
	case len(record) == 0:
		return text.Empty
	case len(record) > d.maxBytes:
		return text.TooLarge
	}
	event, code := d.content(record)
	if code != text.OK {
		return code
	}
	d.inside = true
	return d.inner.Decode(dst, event)
}

// Problem implements event.Decoder.
func (d *decoder) Problem(record []byte, code text.Code) string {
	if d.inside {
		var event []byte
		if len(record) > 0 {
			event, _ = d.content(record)
		}
		return d.inner.Problem(event, code)
	}
	return fmt.Sprintf("%s: %s", code, code.RuleAt(record))
}
