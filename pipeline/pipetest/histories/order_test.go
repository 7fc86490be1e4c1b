package histories

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"oriel/pipeline/kafka/records"
	"oriel/schemas/text"
	"oriel/state/frame"
)

// spot is an offset of the input, with its record if there is one.
type spot struct {
	at
	entry *entry
	slot  int64     // by the clock: the slot of the record
	code  text.Code // why the record is a null event; text.OK: it is none
}

// at is an offset of a partition of the input.
type at struct {
	partition int32
	offset    int64
}

// rule implements, from its description, which records of an order log count, and how they order the input. A record
// counts if it is signed and for the input, and two conditions hold. Its batch has a broker's time at or after the end
// of its slot. No record with a later slot has counted, and by the clock none with the same slot. It orders offsets by
// partition. An entry orders nothing if it is older than an entry of its partition that has moved the partition's end.
//
// By count, the input has the producers' times. If a record's slot is new, then offsets of a partition before the first
// record come before all records.
//
// By the clock, an input record with the broker's time is in the slot of this time, but not before that of the record
// in front of it, and not in a closed slot. Others are in the slot of the order record. The order is by slot, partition
// and offset; records of slots that are still open wait for a later order record. Offsets without a record are left
// out.
type rule struct {
	key           [32]byte
	topic, input  [16]byte
	clock         bool
	slot          int64 // the slot of the last record that counted
	ends          map[int32]int64
	epochs        map[int32]int32
	next          map[int32]int64 // by the clock: the first offset that waits
	order         []spot
	entries       map[at]*entry // the records of the input
	void, counted int           // numbers of signed records
}

func newRule(key [32]byte, topic, input [16]byte) *rule {
	return &rule{key: key, topic: topic, input: input, ends: map[int32]int64{}, epochs: map[int32]int32{}}
}

// take applies the rule to an order record, and returns the number of partitions that gain offsets.
func (r *rule) take(record *records.Record) (adds int) {
	const head, sum = 17, 16
	value := record.Value
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
	var fields []int64
	for body = body[head:]; len(body) > 0; {
		n, width := binary.Uvarint(body)
		fields, body = append(fields, int64(n)), body[width:]
	}
	slot, entries := fields[0], slices.Collect(slices.Chunk(fields[1:], 3))
	if slot < r.slot || r.clock && slot == r.slot || !record.Appended || record.Timestamp < 1000*(slot+1) {
		r.void++
		return 0
	}
	fresh, before, partition := slot > r.slot, r.slot, int32(-1)
	r.slot = slot
	r.counted++
	var later []spot
	for _, e := range entries {
		partition += 1 + int32(e[0])
		if e[1] <= r.ends[partition] || int32(e[2]) < r.epochs[partition] {
			continue
		}
		gap := fresh && r.entries != nil
		for offset := r.ends[partition]; offset < e[1] && !r.clock; offset++ {
			one := spot{at: at{partition, offset}}
			one.entry = r.entries[one.at]
			if gap = gap && one.entry == nil; gap {
				r.order = append(r.order, one)
			} else {
				later = append(later, one)
			}
		}
		r.ends[partition], r.epochs[partition] = e[1], int32(e[2])
		adds++
	}
	r.order = append(r.order, later...)
	if r.clock {
		r.close(before + 1)
	}
	return adds
}

// close orders the records of the slots from one on that the last order record closes.
func (r *rule) close(from int64) {
	for slot := from; slot <= r.slot; slot++ {
		for _, p := range slices.Sorted(maps.Keys(r.ends)) {
			for ; r.next[p] < r.ends[p]; r.next[p]++ {
				one := spot{at: at{p, r.next[p]}, slot: slot}
				if one.entry = r.entries[one.at]; one.entry == nil {
					continue
				}
				own := r.slot
				if record := one.entry.record; record.Appended {
					own = record.Timestamp / 1000
				}
				if own > slot {
					break
				}
				r.order = append(r.order, one)
			}
		}
	}
}

// rule returns the rule of the history's order log, before its first record.
func (o *outcome) rule(entries map[at]*entry) *rule {
	r := newRule(o.orderKey, o.orders, o.topic)
	r.entries = entries
	if clock := o.script.clock; clock != nil {
		clock.begin(r, o.start)
	}
	return r
}

// ordered applies the rule to the full order log. entries are the records of the input.
func (o *outcome) ordered(entries map[at]*entry) *rule {
	r := o.rule(entries)
	for _, e := range o.logs[place{"late.order", 0}] {
		r.take(&e.record)
	}
	return r
}

// merged returns the offsets that a stream takes, in order: the offsets of its partition, or of all partitions in the
// order of the order log.
func (o *outcome) merged(stream int32) (merged []spot) {
	entries := o.input()
	if o.script.whole {
		is := o.ordered(entries)
		merged = is.order
		for p, end := range o.ends {
			if is.ends[p.partition] != end {
				o.wrong("order", "the order log has partition %d up to %d, and it ends at %d",
					p.partition, is.ends[p.partition], end)
			}
		}
	} else {
		for offset := range o.ends[place{"trips", stream}] {
			one := at{stream, offset}
			merged = append(merged, spot{at: one, entry: entries[one]})
		}
	}
	return merged
}

// input returns the committed records of the input.
func (o *outcome) input() map[at]*entry {
	entries := map[at]*entry{}
	for p, log := range o.logs {
		for i := range log {
			if p.topic == "trips" && log[i].committed {
				entries[at{p.partition, log[i].record.Offset}] = &log[i]
			}
		}
	}
	return entries
}

// takeOrder counts the listed paths that only the stream of a whole topic can take.
func (o *outcome) takeOrder() {
	if !o.script.whole || o.script.clock != nil && o.start == nil {
		return
	}
	o.counts["whole topic"]++
	o.counts["order by another process alone"] += b2i(o.script.writer == other)
	r := o.rule(o.input())
	within := map[int64]orderedBy{} // by offset of the order record
	for _, e := range o.logs[place{"late.order", 0}] {
		void, from, slot := r.void, len(r.order), r.slot
		if r.take(&e.record) > 1 {
			o.counts["order record of several partitions"]++
		}
		within[e.record.Offset] = orderedBy{r.order[from:], slot, r.slot}
		o.counts["void order record"] += r.void - void
		if o.script.clock != nil {
			o.counts["void order record by the clock"] += r.void - void
			o.counts["order record of an outage"] += b2i(r.slot-slot > 15)
		}
	}
	var states []entry
	for _, e := range o.logs[place{"late.changelog", 0}] {
		if e.committed && len(e.record.Value) > 70 && frame.Kind(e.record.Value[1]) == frame.KindState {
			states = append(states, e)
		}
	}
	o.takeSaves(states, within)
	for _, when := range o.worked {
		i := slices.IndexFunc(states, func(e entry) bool { return !time.UnixMilli(e.record.Timestamp).Before(when) })
		if i < 0 {
			i = len(states)
		}
		if i == 0 {
			continue
		}
		stands, _ := stands(states[i-1].record.Value)
		all := within[stands.record]
		o.counts["order record in progress at a take-over"] += b2i(slices.ContainsFunc(all.spots, stands.taken))
		o.takeTakeOver(stands, all, states[i-1].record.Offset)
	}
}

// orderedBy is what an order record adds to the order.
type orderedBy struct {
	spots      []spot
	before, to int64 // the last closed slot before the record, and after it
}

// taken reports whether a state is behind a record.
func (s standing) taken(a spot) bool { return a.offset < s.in(a.partition) }
