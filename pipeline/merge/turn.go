package merge

import (
	"cmp"
	"container/heap"

	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/order"
)

// head is what a lane knows of the offset at which it stands. It stays known when the lane's memory is released.
type head struct {
	known  bool
	gap    bool           // there is no record at the offset
	record records.Public // else the record
}

// turns is a heap of the lanes that have offsets of the order record in progress. The lane whose turn it is comes
// first: the lane with the earliest slot, and of these the one with the lowest partition. A lane whose head is unknown
// has the slot at which the merge stands, because its head may be there.
type turns []*lane

func (t turns) Len() int           { return len(t) }
func (t turns) Less(i, j int) bool { return compare(t[i], t[j]) < 0 }
func (t turns) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }

// Push adds a lane.
func (t *turns) Push(x any) {
	l, _ := x.(*lane)
	l.waits = true
	*t = append(*t, l)
}

// Pop removes the last lane.
func (t *turns) Pop() any {
	last := len(*t) - 1
	l := (*t)[last]
	(*t)[last], *t = nil, (*t)[:last]
	l.waits = false
	return l
}

// compare orders lanes by their turns. Lanes without offsets of the order record in progress come last.
func compare(a, b *lane) int {
	switch {
	case a.waits && !b.waits:
		return -1
	case b.waits && !a.waits:
		return 1
	case a.waits:
		return cmp.Or(cmp.Compare(a.slot, b.slot), cmp.Compare(a.partition, b.partition))
	default:
		return cmp.Compare(a.partition, b.partition)
	}
}

// enter starts the first order record ahead, if none is in progress: the lanes get its ends.
func (r *Reader) enter() {
	if r.entered {
		return
	}
	r.entered = true
	order.Enter(nil, r.at, r.start, r.ahead[0].Entries)
	for _, l := range r.lanes {
		if place, _ := r.at.Part(l.partition); l.next < place.End && r.place(l) {
			heap.Push(&r.turns, l)
		}
	}
}

// place sets the slot of a lane's head. It reports false if the order record in progress does not reach this slot.
func (r *Reader) place(l *lane) bool {
	l.slot = r.at.Slot
	if closes := r.ahead[0].Slot; l.head.known && !l.head.gap {
		l.slot = max(l.slot, r.log.SlotOf(l.head.record, closes))
		return l.slot <= closes
	}
	return true
}

// look takes the head of the first lane from its first Batch, if it is not known, and puts the lane in its place.
func (r *Reader) look(l *lane) {
	b := l.ready[0]
	l.head = head{known: true, gap: len(b.Records) == 0 || b.Records[0].Offset > l.next}
	if !l.head.gap {
		l.head.record = b.Records[0].Public
	}
	if r.place(l) {
		heap.Fix(&r.turns, 0)
	} else {
		heap.Pop(&r.turns)
	}
}

// reach returns the offset up to which a Batch belongs to the turn of its lane: up to the first record of a later slot,
// or up to the end of the order record in progress. Offsets without a record belong to the record in front.
func (r *Reader) reach(l *lane, b *fetch.Batch) int64 {
	place, _ := r.at.Part(l.partition)
	end := min(b.Next, place.End)
	for i := range b.Records {
		record := &b.Records[i]
		if record.Offset >= end {
			break
		}
		if r.log.SlotOf(record.Public, r.ahead[0].Slot) > l.slot {
			return record.Offset
		}
	}
	return end
}

// pass moves the first lane behind a piece that was handed out. rest reports that the next offset is in the same Batch.
func (r *Reader) pass(l *lane, rest bool) {
	for len(l.ranges) > 0 && l.ranges[0].To <= l.next {
		l.ranges = l.ranges[1:]
	}
	l.head = head{}
	place, _ := r.at.Part(l.partition)
	switch {
	case l.next >= place.End:
		heap.Pop(&r.turns)
	case rest:
		r.look(l)
	}
}

// leave ends the order record in progress.
func (r *Reader) leave() *fetch.Done {
	is := r.ahead[0]
	r.log.Leave(r.at, is.Slot)
	r.ahead, r.entered, r.entries = r.ahead[1:], false, r.entries-len(is.Entries)
	notify(r.taken)
	done := &fetch.Done{Slot: r.at.Slot}
	for _, e := range is.Entries {
		if part, listed := r.at.Part(e.Partition); listed {
			first, _ := r.start.Part(e.Partition)
			done.Parts = append(done.Parts, fetch.Reach{
				Partition: e.Partition, Start: first.Next, End: part.End, Epoch: part.Ordered,
			})
		}
	}
	return done
}
