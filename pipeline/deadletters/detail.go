package deadletters

import (
	"unicode/utf8"

	"oriel/pipeline/kafka/records"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

// mostDetail is the largest length, in bytes, of the explanation in a dead letter.
const mostDetail = 512

// detailed adds an explanation to the dead letter of a record: the fault, and the member that has it. It does so only
// if the decoder finds the same fault and a batch of limit bytes has room. Dead letters are for people who may read the
// input.
func detailed(
	l deadLetter, d event.Decoder, partition int32, r *records.Record, code text.Code, limit int,
) deadLetter {
	if d == nil || r == nil || r.Unreadable {
		return l
	}
	if placed, is := d.(event.PlacedDecoder); is {
		placed.At(partition, r.Offset)
	}
	var event event.Event
	if d.Decode(&event, r.Value) != code { // a fault of the user id, which decoders do not see
		return l
	}
	text := d.Problem(r.Value, code)
	if len(text) > mostDetail {
		cut := mostDetail
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut]
	}
	more := l
	more.headers = append(more.headers[:len(more.headers):len(more.headers)],
		records.Header{Key: headerDetail, Value: []byte(text)})
	if more.size() > limit {
		return l
	}
	return more
}
