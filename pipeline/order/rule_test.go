package order

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/state"
)

// slowOrder applies the rule literally to a full log: an entry counts iff no entry of its partition that has counted
// before has a later epoch, and none has its end or a greater one.
func slowOrder(start map[int32]int64, log [][]Entry) []Range {
	type counted struct{ Entry }
	var all []counted
	var order []Range
	for _, record := range log {
		for _, e := range record {
			from, void := start[e.Partition], e.End <= start[e.Partition]
			for _, c := range all {
				if c.Partition != e.Partition {
					continue
				}
				void = void || c.Epoch > e.Epoch || c.End >= e.End
				from = max(from, c.End)
			}
			if void {
				continue
			}
			all = append(all, counted{e})
			order = append(order, Range{Partition: e.Partition, From: from, To: e.End, Epoch: e.Epoch})
		}
	}
	return order
}

// input is a topic whose partitions grow and change leaders. Late answers of earlier leaders may still be written.
type input struct {
	rng   *rand.Rand
	ends  []int64
	epoch []int32
	heard []Entry // answers received but not written yet, or written again
}

func newInput(rng *rand.Rand) *input {
	n := 1 + rng.IntN(5)
	return &input{rng: rng, ends: make([]int64, n), epoch: make([]int32, n)}
}

// live draws one event: the input grows, changes a leader, or gets a partition.
func (in *input) live() {
	p := in.rng.IntN(len(in.ends))
	switch in.rng.IntN(8) {
	case 0:
		in.epoch[p]++
		if in.rng.IntN(2) == 0 { // an unclean election: the log continues from an earlier end
			in.ends[p] -= in.rng.Int64N(in.ends[p]/4 + 1)
		}
	case 1:
		if in.rng.IntN(4) == 0 { // adds a partition
			in.ends, in.epoch = append(in.ends, 0), append(in.epoch, 0)
		}
	default:
		in.ends[p] += in.rng.Int64N(20)
	}
}

// look returns an answer with the input's ends: of all partitions that have records, or sometimes only of some.
func (in *input) look() (entries []Entry) {
	for p := range in.ends {
		e := Entry{Partition: int32(p), End: in.ends[p], Epoch: in.epoch[p]}
		if e.End > 0 && in.rng.IntN(4) > 0 {
			entries = append(entries, e)
			in.heard = append(in.heard, e)
		}
	}
	return entries
}

// write draws the next record that is appended: current ends, earlier ends (of a fenced process, or of a repeated
// request), or a mixture.
func (in *input) write() []Entry {
	entries := in.look()
	if len(in.heard) == 0 || in.rng.IntN(3) > 0 {
		return entries
	}
	for range 1 + in.rng.IntN(3) {
		old := in.heard[in.rng.IntN(len(in.heard))]
		i, found := slices.BinarySearchFunc(entries, old.Partition, func(e Entry, p int32) int {
			return int(e.Partition - p)
		})
		if found {
			entries[i] = old
		} else {
			entries = slices.Insert(entries, i, old)
		}
	}
	return entries
}

// stand is a reader of the order: its vector, and its position in the log.
type stand struct {
	at, start *state.Ordered
	order     []Range
}

// read reads the log from the reader's position to an end. If cut is set, it stops inside the last record, as a
// transaction that closes does.
func (s *stand) read(rng *rand.Rand, log []([]Entry), end int, cut bool) {
	for ; s.at.Next < int64(end); s.at.Next++ {
		ranges := Ranges(nil, s.at, s.start, log[s.at.Next])
		inside := cut && s.at.Next == int64(end)-1 && len(ranges) > 0
		if inside {
			ranges = ranges[:1+rng.IntN(len(ranges))]
			last := &ranges[len(ranges)-1]
			last.To -= rng.Int64N(last.To - last.From)
		}
		for _, r := range ranges {
			Pass(s.at, r)
			s.take(r)
		}
		if inside {
			return
		}
	}
}

// take records a range. If it continues the previous range, because a reader stopped in the middle, it extends that
// range.
func (s *stand) take(r Range) {
	if n := len(s.order) - 1; n >= 0 && s.order[n].Partition == r.Partition && s.order[n].To == r.From &&
		s.order[n].Epoch == r.Epoch {
		s.order[n].To = r.To
		return
	}
	s.order = append(s.order, r)
}

// joined returns an order with adjacent ranges joined, as stand records them.
func joined(order []Range) []Range {
	var s stand
	for _, r := range order {
		s.take(r)
	}
	return s.order
}

// interleave draws a history of an order log and checks the rule on it.
func interleave(seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 28))
	in := newInput(rng)
	start := &state.Ordered{}
	first := map[int32]int64{}
	for p := range in.ends {
		in.ends[p] = rng.Int64N(40)
		if rng.IntN(2) == 0 {
			first[int32(p)] = in.ends[p]
			start.Set(state.OrderedPart{Partition: int32(p), Next: in.ends[p], LeaderEpoch: -1, Ordered: -1})
		}
	}
	var log [][]Entry
	var orders [][]Range // order of each prefix of the log
	slow := func() []Range { return slowOrder(first, log) }
	straight := stand{at: &state.Ordered{}, start: start}
	resumed := stand{at: &state.Ordered{}, start: start}
	for range 3 + rng.IntN(12) {
		for range rng.IntN(4) {
			in.live()
		}
		log = append(log, in.write())
		straight.read(rng, log, len(log), false)
		orders = append(orders, slices.Clone(straight.order))
		if rng.IntN(2) == 0 {
			resumed.at = resumed.at.Clone() // another process continues at this position
			resumed.read(rng, log, int(resumed.at.Next)+rng.IntN(len(log)-int(resumed.at.Next)+1), true)
		}
	}
	resumed.read(rng, log, len(log), false)
	want := joined(slow())
	switch {
	case !slices.Equal(straight.order, want):
		return fmt.Errorf("seed %d: the order is %v, want %v", seed, straight.order, want)
	case !slices.Equal(resumed.order, want):
		return fmt.Errorf("seed %d: after stops the order is %v, want %v", seed, resumed.order, want)
	}
	for i, order := range orders {
		if joint := joined(slowOrder(first, log[:i+1])); !slices.Equal(order, joint) || !begins(want, joint) {
			return fmt.Errorf("seed %d: %d records order %v, and all of them %v", seed, i+1, order, want)
		}
	}
	return contiguous(seed, first, want)
}

// begins reports whether order starts with prefix; the last range of prefix may have grown.
func begins(order, prefix []Range) bool {
	n := len(prefix)
	if n == 0 {
		return true
	}
	if len(order) < n || !slices.Equal(order[:n-1], prefix[:n-1]) {
		return false
	}
	last, was := order[n-1], prefix[n-1]
	return last.To >= was.To && last == Range{was.Partition, was.From, last.To, was.Epoch}
}

// contiguous checks that each partition is ordered from its start on, once and without a gap, by epochs that never
// fall.
func contiguous(seed uint64, next map[int32]int64, order []Range) error {
	epochs := map[int32]int32{}
	for _, r := range order {
		if r.From != next[r.Partition] || r.To <= r.From || r.Epoch < epochs[r.Partition] {
			return fmt.Errorf("seed %d: range %+v after offset %d and epoch %d", seed, r, next[r.Partition], epochs[r.Partition])
		}
		next[r.Partition], epochs[r.Partition] = r.To, r.Epoch
	}
	return nil
}

// TestNoRecordChangesWhatWasOrdered checks on random histories that later records never change the order of earlier
// ones, for several writers, and for readers that stop and continue anywhere.
func TestNoRecordChangesWhatWasOrdered(t *testing.T) {
	for seed := range tiertest.Runs(uint64(20_000), 1_000_000) {
		if err := interleave(seed); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhichEntriesCount(t *testing.T) {
	for name, c := range map[string]struct {
		log  [][]Entry
		want []Range
	}{
		"a repetition":         {[][]Entry{{{0, 5, 0}}, {{0, 5, 0}}}, []Range{{0, 0, 5, 0}}},
		"an older end":         {[][]Entry{{{0, 5, 0}}, {{0, 4, 0}}}, []Range{{0, 0, 5, 0}}},
		"a dead epoch":         {[][]Entry{{{0, 5, 2}}, {{0, 9, 1}}}, []Range{{0, 0, 5, 2}}},
		"a later epoch":        {[][]Entry{{{0, 5, 1}}, {{0, 9, 3}}}, []Range{{0, 0, 5, 1}, {0, 5, 9, 3}}},
		"a void entry's epoch": {[][]Entry{{{0, 5, 0}}, {{0, 4, 7}}, {{0, 9, 1}}}, []Range{{0, 0, 5, 0}, {0, 5, 9, 1}}},
		"another's epoch":      {[][]Entry{{{0, 5, 7}}, {{1, 4, 0}}}, []Range{{0, 0, 5, 7}, {1, 0, 4, 0}}},
		"before the start":     {[][]Entry{{{2, 90, 9}}, {{2, 110, 0}}}, []Range{{2, 100, 110, 0}}},
		"an empty record":      {[][]Entry{{}, {{1, 4, 0}}}, []Range{{1, 0, 4, 0}}},
		"partitions of a record": {
			[][]Entry{{{0, 5, 0}, {1, 6, 0}}, {{0, 7, 0}, {1, 6, 0}}},
			[]Range{{0, 0, 5, 0}, {1, 0, 6, 0}, {0, 5, 7, 0}},
		},
	} {
		s := stand{at: &state.Ordered{}, start: &state.Ordered{Parts: []state.OrderedPart{{Partition: 2, Next: 100}}}}
		var got []Range
		for _, entries := range c.log {
			ranges := Ranges(nil, s.at, s.start, entries)
			for _, r := range ranges {
				Pass(s.at, r)
			}
			got = append(got, ranges...)
		}
		if !slices.Equal(got, c.want) || !slices.Equal(slowOrder(map[int32]int64{2: 100}, c.log), c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestRangesDoNotAllocate(t *testing.T) {
	at, start := &state.Ordered{}, &state.Ordered{}
	var entries []Entry
	for p := range int32(200) {
		entries = append(entries, Entry{Partition: p, End: 10})
	}
	ranges := make([]Range, 0, len(entries))
	for _, r := range Ranges(ranges, at, start, entries) {
		Pass(at, r)
	}
	for i := range entries {
		entries[i].End = 20
	}
	if n := testing.AllocsPerRun(10, func() { ranges = Ranges(ranges[:0], at, start, entries) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
	if len(ranges) != 200 {
		t.Errorf("%d ranges, want 200", len(ranges))
	}
}
