package histories

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"

	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/records"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

// maxValue is the deployment's limit of an event's value, in bytes.
const maxValue = 1000

// event returns a valid event, or one that breaks a single rule.
func randomEvent(random *rand.Rand) string {
	valid := fmt.Sprintf(`{"features":[0.%03d,0,0,0],"label":%d}`, random.IntN(1000), 2*random.IntN(2)-1)
	if random.IntN(3) > 0 {
		return valid
	}
	others := []string{
		`{"features":{"indices":[0],"values":[0.5]},"label":1}`,
		`{"features":[0.5,0,0,0],"label":-1,"weight":2}`,
		strings.Replace(valid, "{", `{"more":[1,{}],`, 1),
		`{"features":[0.5,0,0,0],"label":1`,
		`{"features":[0.5],"label":1}`,
		`{"features":[0.5,0,0,0],"label":7}`,
		`{"features":[1e999,0,0,0],"label":1}`,
		"{\"features\":{\"c\":\"\xff\"},\"label\":1}",
		strings.Repeat("[", 40), `null`, ``, `{`, valid + ` 1`,
	}
	return others[random.IntN(len(others))]
}

// record draws a record without its time. Key, value and headers may each be missing, at a limit, or just beyond it.
func record(random *rand.Rand) records.Record {
	var r records.Record
	r.Value = []byte(randomEvent(random))
	switch random.IntN(16) {
	case 0:
		r.Value = nil
	case 1, 2:
		r.Value = padded(r.Value, maxValue-1+random.IntN(3))
	default:
	}
	switch random.IntN(6) {
	case 0:
		r.Key = []byte{}
	case 1:
		r.Key = fmt.Appendf(nil, "user-%d", random.IntN(5))
	case 2:
		r.Key = bytes.Repeat([]byte{'k'}, random.IntN(60))
	default:
	}
	headers := 0
	switch random.IntN(24) {
	case 0, 1, 2:
		headers = 1 + random.IntN(3)
	case 3:
		headers = records.MaxHeaders - 1 + random.IntN(3)
	default:
	}
	r.Headers = records.HeadersOf(make([]records.Header, headers)...)
	return r
}

// large returns records whose number or size is at a constant of the client, or differs from it by one. The constants
// limit the records of a Batch, the bytes of a Batch, the bytes of a transaction, and decompression buffers.
func large(random *rand.Rand, list []records.Record) []records.Record {
	beside := random.IntN(3) - 1
	switch random.IntN(4) {
	case 0: // sizes around batchRecords
		list = nil
		for range 2048 + beside {
			list = append(list, records.Record{Value: []byte(`{}`)})
		}
	case 1: // sizes above TransactionBytes
		for i := range 20 {
			list = append(list[:min(i, len(list))], records.Record{Value: padded(nil, 60_000+random.IntN(100))})
		}
	default: // sizes around leastHold (LeastBytes), batchHold (KeepBytes) and LargeBytes
		target := pick(random, memory.LeastBytes, memory.KeepBytes, memory.KeepBytes, memory.LargeBytes) + beside
		last := &list[len(list)-1]
		value := last.Value
		for range 4 { // a longer length has a longer encoding, so the size converges
			missing := target - (batch(records.NoCompression, list, 0).Bytes() - records.HeaderLen)
			last.Value = padded(value, len(last.Value)+missing)
		}
	}
	return list
}

func padded(value []byte, size int) []byte {
	return append(bytes.Clone(value), bytes.Repeat([]byte{' '}, max(0, size-len(value)))...)
}

// bytesOf returns the length of a record in a batch in which it is not the first record.
func bytesOf(r records.Record) int {
	with := batch(records.NoCompression, []records.Record{{}, r}, 0)
	return with.Bytes() - batch(records.NoCompression, []records.Record{{}}, 0).Bytes()
}

// batch builds a batch of records whose timestamps start at now, in ms.
func batch(codec records.Codec, list []records.Record, now int64) *records.Builder {
	b := new(records.Builder)
	b.Compress(codec)
	for _, r := range list {
		b.Append(r.Key, r.Value, r.Headers.List(), now+r.Timestamp)
	}
	return b
}

// filled makes a record as long as another one by extending its value, a header or its key. It returns false if none of
// them can be extended.
func filled(random *rand.Rand, r, like records.Record) (records.Record, bool) {
	size := bytesOf(like)
	r.Timestamp = like.Timestamp
	rooms := []func(r records.Record, more []byte) records.Record{
		func(r records.Record, more []byte) records.Record {
			if r.Value != nil {
				r.Value = append(bytes.Clone(r.Value), more...)
			}
			return r
		},
		func(r records.Record, more []byte) records.Record {
			r.Headers = records.HeadersOf(append(r.Headers.List(), records.Header{Key: "more", Value: more})...)
			return r
		},
		func(r records.Record, more []byte) records.Record {
			r.Key = append(bytes.Clone(r.Key), more...)
			return r
		},
	}
	for _, at := range random.Perm(len(rooms)) {
		most := size - bytesOf(rooms[at](r, nil))
		for n := most; n >= max(0, most-6); n-- {
			if full := rooms[at](r, bytes.Repeat([]byte{' '}, n)); bytesOf(full) == size {
				return full, true
			}
		}
	}
	return r, false
}

// exchanged returns another record of the same size, with which the batch compresses to the same size, too. It returns
// false if a few attempts find no such record.
func exchanged(random *rand.Rand, codec records.Codec, list []records.Record, at int) (records.Record, bool) {
	want, err := packed(codec, list)
	for range 12 {
		other, ok := filled(random, record(random), list[at])
		if !ok || err != nil || bytes.Equal(other.Value, list[at].Value) {
			continue
		}
		changed := append([]records.Record(nil), list...)
		changed[at] = other
		if got, err := packed(codec, changed); err == nil && got == want {
			return other, true
		}
	}
	return records.Record{}, false
}

func packed(codec records.Codec, list []records.Record) (int, error) {
	b, err := batch(codec, list, 0).Seal(records.Stamp{ProducerID: -1, Epoch: -1, Sequence: -1})
	return len(b), err
}

// decoded decodes a record directly, without the pipeline. For a record that is taken as a null event it returns nil
// and the reason.
func decoded(d *event.JSONDecoder, e *event.Event, r records.Record) (*event.Event, text.Code) {
	if r.Unreadable {
		return nil, text.TooLarge
	}
	if code := d.Decode(e, r.Value); code != text.OK {
		return nil, code
	}
	return e, text.OK
}
