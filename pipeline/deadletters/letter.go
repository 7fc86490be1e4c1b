package deadletters

import (
	"strconv"

	"oriel/pipeline/kafka/records"
	"oriel/schemas"
)

// The headers that a letter has after those of its record. Others read these names, so they must not change.
const (
	headerReason    = "oriel-reason"    // a schemas.Code
	headerDetail    = "oriel-detail"    // what is wrong, in words; not of every letter
	headerTopic     = "oriel-topic"     // where the record is, or was
	headerPartition = "oriel-partition" //
	headerOffset    = "oriel-offset"    //
	headerTruncated = "oriel-truncated" // true when the letter does not hold all of the record
	headerLength    = "oriel-length"    // beside oriel-truncated: bytes of the record's value
	headerLost      = "oriel-lost"      // true when the letter could not be written: its record or its verdict is gone
	headerUntil     = "oriel-until"     // of a gap: the letter stands for the offsets [oriel-offset, this one)
)

// keptBytes is the greatest part of a value, and of a key, that a letter keeps of a record that is too large to keep
// whole.
const keptBytes = 64 << 10

// deadLetter is a record of the dead-letter topic.
type deadLetter struct {
	key, value []byte
	headers    []records.Header
}

// place adds the headers that every letter has.
func (l *deadLetter) place(topic string, partition int32, offset int64, reason string) {
	l.headers = append(l.headers,
		records.Header{Key: headerReason, Value: []byte(reason)},
		records.Header{Key: headerTopic, Value: []byte(topic)},
		records.Header{Key: headerPartition, Value: strconv.AppendInt(nil, int64(partition), 10)},
		records.Header{Key: headerOffset, Value: strconv.AppendInt(nil, offset, 10)},
	)
}

// lostLetter is the letter of a record that is gone.
func lostLetter(topic string, partition int32, offset int64, code schemas.Code) deadLetter {
	l := deadLetter{headers: []records.Header{{Key: headerLost, Value: []byte("true")}}}
	l.place(topic, partition, offset, code.String())
	return l
}

// gapLetter stands for all letters of a gap. It names only offsets, because without verdicts nothing shows which of
// their records were bad.
func gapLetter(topic string, partition int32, g gap) deadLetter {
	l := deadLetter{headers: []records.Header{
		{Key: headerLost, Value: []byte("true")},
		{Key: headerUntil, Value: strconv.AppendInt(nil, g.until, 10)},
	}}
	l.place(topic, partition, g.from, g.why.reason)
	return l
}

// newLetter makes the letter of a record: its headers, key and value, then the reason and the place. Of a value above
// maxRecord bytes it keeps keptBytes. A record that does not fit into a batch of limit bytes loses its headers, and
// keeps as much of key and value as there is room for, at most keptBytes of each. newLetter reports false if there is
// no room even for reason and place.
func newLetter(
	topic string, partition int32, r *records.Record, code schemas.Code, maxRecord, limit int,
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

// size is the greatest length of a batch that holds this letter alone.
func (l *deadLetter) size() int {
	return records.BatchOverhead + records.RecordBytes(l.key, l.value, l.headers)
}

// cut keeps the first bytes. Null stays null, and empty stays empty.
func cut(b []byte, most int) []byte { return b[:min(len(b), most)] }
