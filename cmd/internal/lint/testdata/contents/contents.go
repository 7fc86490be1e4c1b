// Package contents has what CheckContents must find, and what it must leave alone.
package contents

import "oriel/pipeline/kafka/records"

type other struct{ Key, Value []byte }

func ends(list []records.Record, b *records.Builder) (n int) {
	for i := range list {
		r := &list[i]
		n += r.Length + r.Public.Length + int(r.Offset)
		if r.Unreadable { // want
			n++
		}
		n += len(r.Key) + len(r.Value) // want want
		n += r.Headers.Len()           // want
		if r.Timestamp > 0 {
			n++
		}
	}
	all := records.Record{Public: records.Public{Offset: 1}, Value: nil} // want
	mine := other{Key: nil}
	return n + len(mine.Key) + all.Length + b.Bytes()
}

var _ = ends
