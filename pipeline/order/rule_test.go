package order

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka/records"
	"oriel/state"
)

// world is an input and its order log.
type world struct {
	log    Log
	start  *state.Ordered
	inputs [][]event // by partition and offset
	orders []records.Record
}

// event is a record of the input. A deleted or inserted record changes offsets, but no id.
type event struct {
	id int
	records.Public
}

// piece is a record in its place in the order.
type piece struct {
	id, order int // id of the record, and offset of the order record
	slot      int64
	partition int32
	offset    int64
}

// merge returns the next n records in the order after a position, which it moves: all of them if n is negative.
func (w *world) merge(at *state.Ordered, n int) (all []piece) {
	for ; at.Next < int64(len(w.orders)); at.Next++ {
		is, err := w.log.Parse(w.orders[at.Next].Value)
		if err != nil || !is.Counts(at, w.orders[at.Next].Public) {
			continue
		}
		Enter(nil, at, w.start, is.Entries)
		var due []piece
		for _, part := range at.Parts {
			slot := at.Slot
			for offset := part.Next; offset < part.End; offset++ {
				e := w.inputs[part.Partition][offset]
				if slot = max(slot, w.log.SlotOf(e.Public, is.Slot)); slot > is.Slot {
					break
				}
				due = append(due, piece{e.id, int(at.Next), slot, part.Partition, offset})
			}
		}
		slices.SortStableFunc(due, func(a, b piece) int { return cmp.Compare(a.slot, b.slot) })
		for _, d := range due {
			if n == 0 {
				return all
			}
			n--
			part, _ := at.Part(d.partition)
			part.Next, at.Slot = d.offset+1, d.slot
			at.Set(part)
			all = append(all, d)
		}
		w.log.Leave(at, is.Slot)
	}
	return all
}

// slow applies the rule literally, from its description alone.
func (w *world) slow() (all []piece) {
	type partition struct {
		next, end int64
		epoch     int32
	}
	var parts [8]partition
	for _, p := range w.start.Parts {
		parts[p.Partition] = partition{next: p.Next, end: p.Next}
	}
	open := int64(0) // the first slot that is open
	for i, r := range w.orders {
		is, err := w.log.Parse(r.Value)
		if err != nil || is.Slot < open || !r.Appended || r.Timestamp < 1000*(is.Slot+1) {
			continue
		}
		for _, e := range is.Entries {
			if p := &parts[e.Partition]; e.End > p.end && e.Epoch >= p.epoch {
				p.end, p.epoch = e.End, e.Epoch
			}
		}
		for slot := open; slot <= is.Slot; slot++ {
			for n := range parts {
				p := &parts[n]
				for ; p.next < p.end; p.next++ {
					e, own := w.inputs[n][p.next], is.Slot
					if e.Appended {
						own = e.Timestamp / 1000
					}
					if own > slot && (slot < is.Slot || w.log.ByClock) {
						break
					}
					all = append(all, piece{e.id, i, slot, int32(n), p.next})
				}
			}
		}
		if open = is.Slot; w.log.ByClock {
			open++
		}
	}
	return all
}

// history draws a world: partitions that grow, change their leaders and the type of their times, and several writers of
// the order log, some of which are stale, repeat records, have wrong clocks or lack the key.
type history struct {
	*world
	rng      *rand.Rand
	now      int64 // ms
	back     bool  // a new leader's clock may be behind
	appended bool
	epochs   []int32
	behind   []int64 // of each leader's clock
	sent     []Record
}

func newHistory(seed uint64, back bool) *history {
	rng := rand.New(rand.NewPCG(seed, 45))
	n := 1 + rng.IntN(4)
	h := &history{rng: rng, back: back, appended: rng.IntN(2) == 0, epochs: make([]int32, n), behind: make([]int64, n)}
	h.world = &world{log: testLog, start: &state.Ordered{}, inputs: make([][]event, n)}
	h.log.ByClock = rng.IntN(2) == 0
	h.now = 10_000
	h.events(10)
	for p := range h.inputs {
		if next := int64(len(h.inputs[p])); next > 0 && rng.IntN(2) == 0 {
			h.start.Set(state.OrderedPart{Partition: int32(p), Next: next, End: next, LeaderEpoch: -1, Ordered: -1})
		}
	}
	for range 3 + rng.IntN(8) {
		h.events(rng.IntN(8))
		h.order()
	}
	return h
}

// events appends n records.
func (h *history) events(n int) {
	for range n {
		h.now += h.rng.Int64N(900)
		p := h.rng.IntN(len(h.inputs))
		switch h.rng.IntN(20) {
		case 0:
			if h.epochs[p]++; h.back {
				h.behind[p] = h.rng.Int64N(4000)
			}
		case 1:
			h.appended = !h.appended
		}
		e := event{id: 1 + 1000*p + len(h.inputs[p])}
		e.Timestamp, e.Appended = h.now-h.behind[p], h.appended
		h.inputs[p] = append(h.inputs[p], e)
	}
}

// order appends an order record.
func (h *history) order() {
	r := Record{Slot: max(0, h.now/1000-1-h.rng.Int64N(3))}
	for p, log := range h.inputs {
		end := int64(len(log)) - h.rng.Int64N(3)
		if end > 0 && h.rng.IntN(4) > 0 {
			r.Entries = append(r.Entries, Entry{int32(p), end, max(0, h.epochs[p]-h.rng.Int32N(20)/19)})
		}
	}
	own := records.Record{Public: records.Public{Timestamp: h.now, Appended: h.rng.IntN(12) > 0}}
	log := h.log
	switch h.rng.IntN(10) {
	case 0:
		own.Timestamp = 1000 * (r.Slot + h.rng.Int64N(2))
	case 1:
		if len(h.sent) > 0 {
			r = h.sent[h.rng.IntN(len(h.sent))]
		}
	case 2:
		log.Key[0]++
	}
	h.sent = append(h.sent, r)
	own.Value = log.Append(nil, r)
	h.orders = append(h.orders, own)
}

func (w *world) first() *state.Ordered { return &state.Ordered{LeaderEpoch: -1} }

// TestNoRecordChangesWhatWasOrdered checks on random histories that the order is the literal rule's, that later order
// records never change what earlier ones have ordered, and that a reader may stop and continue anywhere.
func TestNoRecordChangesWhatWasOrdered(t *testing.T) {
	void, split, left := 0, 0, 0
	for seed := range tiertest.Runs(uint64(10_000), 500_000) {
		h := newHistory(seed, true)
		want := h.slow()
		if got := h.merge(h.first(), -1); !slices.Equal(got, want) {
			t.Fatalf("seed %d: the order is %v, want %v", seed, got, want)
		}
		at := h.first()
		var resumed []piece
		for len(resumed) < len(want) {
			at = at.Clone() // another process continues at this position
			resumed = append(resumed, h.merge(at, 1+h.rng.IntN(4))...)
		}
		if !slices.Equal(resumed, want) {
			t.Fatalf("seed %d: after stops the order is %v, want %v", seed, resumed, want)
		}
		shorter := *h.world
		shorter.orders = h.orders[:len(h.orders)-1]
		before := shorter.merge(h.first(), -1)
		if len(before) > len(want) || !slices.Equal(before, want[:len(before)]) {
			t.Fatalf("seed %d: without the last order record the order is %v, and with it %v", seed, before, want)
		}
		void += len(h.orders)
		for i, p := range want {
			if i == 0 || want[i-1].order != p.order {
				void--
			} else if want[i-1].slot != p.slot {
				split++
			}
		}
		for p := range h.inputs {
			if part, _ := at.Part(int32(p)); part.Next < part.End {
				left++
			}
		}
	}
	if void < 1000 || split < 1000 || left < 1000 {
		t.Errorf("%d order records without a record, %d changes of the slot, %d partitions with records left",
			void, split, left)
	}
}

// with returns the world with one more record: number i of a partition.
func (w *world) with(p, i int, e event) *world {
	v := *w
	v.inputs = slices.Clone(w.inputs)
	v.inputs[p] = slices.Insert(slices.Clone(w.inputs[p]), i, e)
	v.orders = slices.Clone(w.orders)
	for n, r := range v.orders {
		is, err := w.log.Parse(r.Value)
		if err != nil {
			continue
		}
		for j, entry := range is.Entries {
			if int(entry.Partition) == p && entry.End > int64(i) {
				is.Entries[j].End++
			}
		}
		v.orders[n].Value = w.log.Append(nil, is)
	}
	if part, listed := w.start.Part(int32(p)); listed && part.Next > int64(i) {
		v.start = w.start.Clone()
		part.Next++
		part.End++
		v.start.Set(part)
	}
	return &v
}

// TestOneRecordMovesNoOther checks the property for which the rule is made: inserting or deleting one record changes no
// other record's slot or place in the order. Brokers' clocks do not go back here, and the new record has the type of
// the record after it.
func TestOneRecordMovesNoOther(t *testing.T) {
	taken := 0
	for seed := range tiertest.Runs(uint64(10_000), 500_000) {
		h := newHistory(seed, false)
		p := h.rng.IntN(len(h.inputs))
		log := h.inputs[p]
		i := h.rng.IntN(len(log) + 1)
		added := event{Public: records.Public{Timestamp: h.now, Appended: h.appended}}
		if i < len(log) {
			added.Public = log[i].Public
		}
		if i > 0 && added.Timestamp > log[i-1].Timestamp {
			added.Timestamp -= h.rng.Int64N(1 + added.Timestamp - log[i-1].Timestamp)
		}
		without, with := h.merge(h.first(), -1), h.with(p, i, added).merge(h.first(), -1)
		if n := slices.IndexFunc(with, func(p piece) bool { return p.id == 0 }); n >= 0 {
			with = slices.Delete(with, n, n+1)
			taken++
		}
		same := slices.EqualFunc(without, with, func(a, b piece) bool {
			a.offset, b.offset = 0, 0
			return a == b
		})
		if !same {
			t.Fatalf("seed %d: with a record at offset %d of partition %d the order of the others is\n%v, and without\n%v",
				seed, i, p, with, without)
		}
	}
	if taken < 1000 {
		t.Errorf("%d of the records were ordered", taken)
	}
}

// TestWhichRecordsCount checks the rule case by case, for an input of two partitions.
func TestWhichRecordsCount(t *testing.T) {
	at := func(ms int64) event { return event{0, records.Public{Timestamp: ms, Appended: true}} }
	sent := func(ms int64) event { return event{0, records.Public{Timestamp: ms}} }
	type entries = []Entry
	record := func(slot, ms int64, e ...Entry) records.Record {
		return records.Record{
			Public: records.Public{Timestamp: ms, Appended: true}, Value: testLog.Append(nil, Record{slot, entries(e)}),
		}
	}
	unstamped := record(4, 9000, Entry{0, 1, 0})
	unstamped.Appended = false
	one := []event{sent(0), sent(0), sent(0)}
	for name, c := range map[string]struct {
		inputs  [][]event
		log     []records.Record
		byCount string // slot, partition and offset of each record
		byClock string
	}{
		"a repetition": {
			[][]event{one}, []records.Record{record(4, 9000, Entry{0, 1, 0}), record(4, 9000, Entry{0, 1, 0})}, "4:0/0", "4:0/0",
		},
		"a slot again": {
			[][]event{one},
			[]records.Record{record(4, 9000, Entry{0, 1, 0}), record(4, 9000, Entry{0, 2, 0})},
			"4:0/0 4:0/1", "4:0/0",
		},
		"an earlier slot": {
			[][]event{one}, []records.Record{record(4, 9000, Entry{0, 1, 0}), record(3, 9000, Entry{0, 2, 0})}, "4:0/0", "4:0/0",
		},
		"an older end": {
			[][]event{one},
			[]records.Record{record(4, 9000, Entry{0, 2, 0}), record(5, 9000, Entry{0, 1, 0})},
			"4:0/0 4:0/1", "4:0/0 4:0/1",
		},
		"a slot that has not ended": {[][]event{one}, []records.Record{record(4, 4999, Entry{0, 1, 0})}, "", ""},
		"a slot that has ended":     {[][]event{one}, []records.Record{record(4, 5000, Entry{0, 1, 0})}, "4:0/0", "4:0/0"},
		"a record without the broker's time": {
			[][]event{one}, []records.Record{unstamped, record(5, 9000, Entry{0, 1, 0})}, "5:0/0", "5:0/0",
		},
		"a dead epoch orders nothing": {
			[][]event{one, one},
			[]records.Record{record(4, 9000, Entry{0, 1, 2}), record(5, 9000, Entry{0, 2, 1}, Entry{1, 1, 0})},
			"4:0/0 5:1/0", "4:0/0 5:1/0",
		},
		"a smaller end's epoch": {
			[][]event{one},
			[]records.Record{record(4, 9000, Entry{0, 2, 0}), record(5, 9000, Entry{0, 1, 7}), record(6, 9000, Entry{0, 3, 1})},
			"4:0/0 4:0/1 6:0/2", "4:0/0 4:0/1 6:0/2",
		},
		"slots before partitions": {
			[][]event{{at(1000), at(3000)}, {at(2000), sent(0)}},
			[]records.Record{record(4, 9000, Entry{0, 2, 0}, Entry{1, 2, 0})},
			"1:0/0 2:1/0 3:0/1 4:1/1", "1:0/0 2:1/0 3:0/1 4:1/1",
		},
		"a clock that was set back": {
			[][]event{{at(3000), at(1000)}}, []records.Record{record(4, 9000, Entry{0, 2, 0})}, "3:0/0 3:0/1", "3:0/0 3:0/1",
		},
		"a slot that is over": {
			[][]event{{at(1000), at(1000)}},
			[]records.Record{record(4, 9000, Entry{0, 1, 0}), record(6, 9000, Entry{0, 2, 0})},
			"1:0/0 4:0/1", "1:0/0 5:0/1",
		},
		"a later slot": {
			[][]event{{at(5000), at(1000)}},
			[]records.Record{record(4, 9000, Entry{0, 2, 0}), record(5, 9000)},
			"4:0/0 4:0/1", "5:0/0 5:0/1",
		},
	} {
		for _, byClock := range []bool{false, true} {
			w := &world{log: testLog, start: &state.Ordered{}, inputs: c.inputs, orders: c.log}
			w.log.ByClock = byClock
			want := c.byCount
			if byClock {
				want = c.byClock
			}
			got := ""
			for i, p := range w.merge(w.first(), -1) {
				if i > 0 {
					got += " "
				}
				got += fmt.Sprintf("%d:%d/%d", p.slot, p.partition, p.offset)
			}
			if got != want {
				t.Errorf("%s, by clock %t: %q, want %q", name, byClock, got, want)
			}
		}
	}
}

// TestAStreamTakesNothingBeforeItsStart checks that entries before the start of a stream order nothing.
func TestAStreamTakesNothingBeforeItsStart(t *testing.T) {
	start := &state.Ordered{Parts: []state.OrderedPart{{Partition: 2, Next: 100, End: 100}}}
	at := &state.Ordered{}
	for _, c := range []struct {
		end  int64
		want []Range
	}{{90, nil}, {110, []Range{{2, 100, 110, 0}}}, {120, []Range{{2, 110, 120, 0}}}} {
		if got := Enter(nil, at, start, []Entry{{2, c.end, 0}}); !slices.Equal(got, c.want) {
			t.Errorf("an end of %d adds %v, want %v", c.end, got, c.want)
		}
	}
}

func TestEnterDoesNotAllocate(t *testing.T) {
	at, start := &state.Ordered{}, &state.Ordered{}
	var entries []Entry
	for p := range int32(200) {
		entries = append(entries, Entry{Partition: p, End: 10})
	}
	ranges := Enter(make([]Range, 0, len(entries)), at, start, entries)
	if n := testing.AllocsPerRun(10, func() {
		for i := range entries {
			entries[i].End++
		}
		ranges = Enter(ranges[:0], at, start, entries)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
	if len(ranges) != 200 {
		t.Errorf("%d ranges, want 200", len(ranges))
	}
}
