package histories

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"

	"oriel/state"
)

// spot is an offset of the input, with its record if there is one.
type spot struct {
	at
	entry *entry
}

// at is an offset of a partition of the input.
type at struct {
	partition int32
	offset    int64
}

// rule implements, from its description, which entries of an order log count. An entry counts if its record is signed
// and for the input, and two conditions hold: no entry of a later epoch of its partition has counted, and none with the
// same or a greater end.
type rule struct {
	key           [32]byte
	topic, input  [16]byte
	ends          map[int32]int64
	epochs        map[int32]int32
	order         []at
	void, counted int // numbers of void entries and of counted ones
}

func newRule(key [32]byte, topic, input [16]byte) *rule {
	return &rule{key: key, topic: topic, input: input, ends: map[int32]int64{}, epochs: map[int32]int32{}}
}

// take applies the rule to an order record, and returns the number of partitions that gain offsets.
func (r *rule) take(value []byte) (adds int) {
	const head, sum = 17, 16
	if len(value) < head+sum {
		return 0
	}
	body, mac := value[:len(value)-sum], value[len(value)-sum:]
	h := hmac.New(sha256.New, r.key[:])
	h.Write(r.topic[:])
	h.Write(body)
	if !hmac.Equal(mac, h.Sum(nil)[:sum]) || [16]byte(body[1:head]) != r.input {
		return 0
	}
	partition := int32(-1)
	for body = body[head:]; len(body) > 0; {
		var fields [3]int64
		for i := range fields {
			n, width := binary.Uvarint(body)
			fields[i], body = int64(n), body[width:]
		}
		partition += 1 + int32(fields[0])
		end, epoch := fields[1], int32(fields[2])
		if epoch < r.epochs[partition] || end <= r.ends[partition] {
			r.void++
			continue
		}
		for offset := r.ends[partition]; offset < end; offset++ {
			r.order = append(r.order, at{partition, offset})
		}
		r.ends[partition], r.epochs[partition] = end, epoch
		r.counted++
		adds++
	}
	return adds
}

// ordered applies the rule to the full order log.
func (o *outcome) ordered() *rule {
	r := newRule(o.orderKey, o.orders, o.topic)
	for _, e := range o.logs[place{"late.order", 0}] {
		r.take(e.record.Value)
	}
	return r
}

// merged returns the offsets that a stream takes, in order: the offsets of its partition, or of all partitions in the
// order of the order log.
func (o *outcome) merged(stream int32) (merged []spot) {
	entries := map[at]*entry{}
	for p, log := range o.logs {
		for i := range log {
			if p.topic == "trips" && log[i].committed {
				entries[at{p.partition, log[i].record.Offset}] = &log[i]
			}
		}
	}
	var order []at
	if o.script.whole {
		is := o.ordered()
		order = is.order
		for p, end := range o.ends {
			if is.ends[p.partition] != end {
				o.wrong("order", "the order log has partition %d up to %d, and it ends at %d",
					p.partition, is.ends[p.partition], end)
			}
		}
	} else {
		for offset := range o.ends[place{"trips", stream}] {
			order = append(order, at{stream, offset})
		}
	}
	for _, a := range order {
		merged = append(merged, spot{a, entries[a]})
	}
	return merged
}

// takeOrder counts the listed paths that only the stream of a whole topic can take.
func (o *outcome) takeOrder() {
	if !o.script.whole {
		return
	}
	o.counts["whole topic"]++
	o.counts["order by another process alone"] += b2i(o.script.writer == other)
	r := newRule(o.orderKey, o.orders, o.topic)
	within := map[int64][]at{} // offsets per order record, for records that add to several partitions
	for _, e := range o.logs[place{"late.order", 0}] {
		void, from := r.void, len(r.order)
		if r.take(e.record.Value) > 1 {
			o.counts["order record of several partitions"]++
		}
		within[e.record.Offset] = r.order[from:]
		o.counts["void entry"] += r.void - void
	}
	var states []entry
	for _, e := range o.logs[place{"late.changelog", 0}] {
		if e.committed && len(e.record.Value) > 70 && state.Kind(e.record.Value[1]) == state.KindState {
			states = append(states, e)
		}
	}
	for _, when := range o.worked {
		i := slices.IndexFunc(states, func(e entry) bool { return !time.UnixMilli(e.record.Timestamp).Before(when) })
		if i < 0 {
			i = len(states)
		}
		if i == 0 {
			continue
		}
		stands, _ := stands(states[i-1].record.Value)
		taken := func(a at) bool { return a.offset < stands.in(a.partition) }
		all := within[stands.record]
		o.counts["order record in progress at a take-over"] += b2i(slices.ContainsFunc(all, taken))
	}
}
