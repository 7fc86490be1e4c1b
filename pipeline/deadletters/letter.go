package deadletters

import (
	"strconv"
	"unicode/utf8"

	"oriel/pipeline/kafka/records"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

// The headers that a letter has in addition to its record's headers. Consumers read these names, so they must not
// change.
const (
	headerReason    = "oriel-reason"    // name of a text.Code
	headerDetail    = "oriel-detail"    // description of the fault; some dead letters have none
	headerTopic     = "oriel-topic"     // with the next two: where the record is, or was
	headerPartition = "oriel-partition" //
	headerOffset    = "oriel-offset"    //
	headerTruncated = "oriel-truncated" // true if the dead letter has only a part of the record
	headerLength    = "oriel-length"    // with oriel-truncated: bytes of the record's value
	headerLost      = "oriel-lost"      // true if the record or its status is gone, so that it cannot be copied
	headerUntil     = "oriel-until"     // for a gap: the dead letter stands for the offsets [oriel-offset, oriel-until)
)

// keptBytes is the largest part of a value, and of a key, that a truncated letter keeps.
const keptBytes = 64 << 10

// deadLetter is a record of the dead-letter topic.
type deadLetter struct {
	key, value []byte
	headers    []records.Header
}

// place adds the headers with the record's position and the reason, which every letter has.
func (l *deadLetter) place(topic string, partition int32, offset int64, reason string) {
	l.headers = append(l.headers,
		records.Header{Key: headerReason, Value: []byte(reason)},
		records.Header{Key: headerTopic, Value: []byte(topic)},
		records.Header{Key: headerPartition, Value: strconv.AppendInt(nil, int64(partition), 10)},
		records.Header{Key: headerOffset, Value: strconv.AppendInt(nil, offset, 10)},
	)
}

// lostLetter returns the letter of a record that is gone.
func lostLetter(topic string, partition int32, offset int64, code text.Code) deadLetter {
	l := deadLetter{headers: []records.Header{{Key: headerLost, Value: []byte("true")}}}
	l.place(topic, partition, offset, code.String())
	return l
}

// gapLetter returns the letter that stands for all letters of a gap. It names only offsets, because without statuses
// nobody can know which of the records were bad.
func gapLetter(topic string, partition int32, g gap) deadLetter {
	l := deadLetter{headers: []records.Header{
		{Key: headerLost, Value: []byte("true")},
		{Key: headerUntil, Value: strconv.AppendInt(nil, g.until, 10)},
	}}
	l.place(topic, partition, g.from, g.why.reason)
	return l
}

// newLetter makes the letter of a record: the record's headers, key and value, then the reason and the position. Of a
// value above maxRecord bytes it keeps keptBytes. If the record exceeds a batch of limit bytes, the letter has none of
// its headers, and as much of key and value as fits, at most keptBytes of each. newLetter reports false if not even
// reason and position fit.
func newLetter(
	topic string, partition int32, r *records.Record, code text.Code, maxRecord, limit int,
) (deadLetter, bool) {
	complete := deadLetter{key: r.Key, value: r.Value, headers: r.Headers.List()}
	if len(r.Value) > maxRecord {
		complete.value = cut(r.Value, keptBytes)
		complete.truncated(len(r.Value))
	}
	complete.place(topic, partition, r.Offset, code.String())
	if complete.size() <= limit {
		return complete, true
	}
	var l deadLetter
	l.truncated(len(r.Value))
	l.place(topic, partition, r.Offset, code.String())
	room := limit - l.size()
	if room < 0 {
		return l, false
	}
	l.key = cut(r.Key, min(keptBytes, room/2))
	l.value = cut(r.Value, min(keptBytes, room-len(l.key)))
	return l, true
}

func (l *deadLetter) truncated(length int) {
	l.headers = append(l.headers,
		records.Header{Key: headerTruncated, Value: []byte("true")},
		records.Header{Key: headerLength, Value: strconv.AppendInt(nil, int64(length), 10)},
	)
}

// size returns the largest length of a batch that contains only this letter.
func (l *deadLetter) size() int {
	return records.BatchOverhead + records.RecordBytes(l.key, l.value, l.headers)
}

// cut keeps the first bytes. A null slice stays null, and an empty slice stays empty.
func cut(b []byte, most int) []byte { return b[:min(len(b), most)] }

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
