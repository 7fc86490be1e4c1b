package bubbletest

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/pipetest/simtest"
	"oriel/schemas/decision"
)

// largeEvent is the size of records that may have a thousand headers, bytes.
const largeEvent = 4200

// slowly returns a fault that delays each commit of a member.
func slowly(by time.Duration) simtest.Fault {
	return simtest.Fault{
		Kind: simtest.Kind{API: "EndTxn", Partition: simtest.AnyPartition}, Count: -1, Effect: simtest.Late(by),
	}
}

// unhurried returns an input and faults for commits that take longer than the commit interval, with bursts that take
// several fetches. A transaction then ends as soon as the previous one has ended, when some events of the burst are
// already consumed.
func unhurried(burst int) (in neighbour, faults []simtest.Fault) {
	in.partitions, in.burst, in.framing.batch = 1, burst, 130
	in.env = map[string]string{"ORIEL_COMMIT_INTERVAL": "7ms", "ORIEL_MAX_RECORD_BYTES": "100000"}
	late := simtest.Fault{
		Kind: simtest.Kind{API: "Fetch", Topic: "late.events", Partition: 0}, Count: -1,
		Effect: simtest.Late(2 * time.Millisecond),
	}
	return in, []simtest.Fault{slowly(2 * time.Millisecond), late}
}

// TestNeighboursLookAlikeByOneHeader exchanges events of equal length that differ in their headers. In one input some
// events have as many headers as allowed, or one less; in others an event has none, one or many.
func TestNeighboursLookAlikeByOneHeader(t *testing.T) {
	t.Parallel()
	model, event := blind(), records.Record{Value: []byte(validEvent)}
	large := func(headers int) records.Record { return filledTo(t, ofHeaders(headers, event), largeEvent, inValue) }
	none, many, most := large(0), large(records.MaxHeaders-1), large(records.MaxHeaders)
	in, faults := unhurried(1040)
	say := func(victim records.Record, is func(n, i int) bool) func(n, i int) records.Record {
		return func(n, i int) records.Record {
			switch {
			case is(n, i):
				return victim
			case i%60 == 1:
				return most
			case i%60 == 2:
				return many
			}
			return none
		}
	}
	single := func(n, i int) bool { return n == 1 && i == 783 }
	in.record = say(none, single)
	want, _ := observe(t, model, in, faults...)
	for name, c := range map[string]struct {
		victim records.Record
		is     func(n, i int) bool
	}{
		"many headers":           {most, single},
		"one header":             {large(1), single},
		"one header, everywhere": {large(1), func(_, i int) bool { return i%60 == 3 }},
	} {
		in.record = say(c.victim, c.is)
		got, _ := observe(t, model, in, faults...)
		if text := simtest.Difference(want, got); text != "" {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// wholes returns records of one size that differ from an event in every field of a record. If keyed is true, they keep
// the event's key, because keys are then public. Variants that do not fit into the size are omitted.
func wholes(t *testing.T, event records.Record, size int, keyed bool) map[string]records.Record {
	t.Helper()
	all := map[string]records.Record{}
	add := func(name string, r records.Record, room room) {
		if recordBytes(room(r, nil)) <= size {
			all[name] = filledTo(t, r, size, room)
		}
	}
	with := func(change func(r *records.Record)) records.Record {
		r := event
		change(&r)
		return r
	}
	extra := bytes.Replace(event.Value, []byte("{"), []byte(`{"more":[1,{}],`), 1)
	add("malformed", with(func(r *records.Record) { r.Value = []byte(`{"features":`) }), inValue)
	add("extra member", with(func(r *records.Record) { r.Value = extra }), inValue)
	add("deep", with(func(r *records.Record) { r.Value = bytes.Repeat([]byte("["), 100) }), inValue)
	add("a header", ofHeaders(1, event), inValue)
	add("a long header", event, inHeader)
	add("null value, headers", with(func(r *records.Record) { r.Value = nil }), inHeader)
	for _, n := range []int{records.MaxHeaders - 1, records.MaxHeaders, records.MaxHeaders + 1} {
		add(fmt.Sprint(n, " headers"), ofHeaders(n, event), inValue)
	}
	if !keyed {
		add("no key", with(func(r *records.Record) { r.Key = nil }), inValue)
		add("empty key", with(func(r *records.Record) { r.Key = []byte{} }), inValue)
		add("long key", event, inKey)
		add("null value, key", with(func(r *records.Record) { r.Key, r.Value = []byte{}, nil }), inKey)
		add("empty value, no key", with(func(r *records.Record) { r.Key, r.Value = nil, []byte{} }), inHeader)
		add("unreadable, no key", ofHeaders(records.MaxHeaders+1, records.Record{}), inHeader)
	}
	return all
}

// exchanged replaces records at random places by others, and keeps each timestamp. A seed determines the places.
func exchanged(
	random *rand.Rand, from []records.Record, some int, others func(i int) []records.Record,
) []records.Record {
	all := append([]records.Record(nil), from...)
	for i := range all {
		if random.IntN(some) > 0 {
			continue
		}
		choice := others(i)
		at := all[i].Timestamp
		all[i] = choice[random.IntN(len(choice))]
		all[i].Timestamp = at
	}
	return all
}

// listed returns the records of a map in a fixed order.
func listed(all map[string]records.Record) (list []records.Record) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, all[name])
	}
	return list
}

// burstsOf returns a function that returns the i-th record of the n-th burst, if the list is cut into bursts.
func burstsOf(burst int, list []records.Record) func(n, i int) records.Record {
	return func(n, i int) records.Record { return list[(n*burst+i)%len(list)] }
}

// fetchesOf returns the sizes of the input's fetches, which depend on the framing and on the compressed sizes of
// batches.
func fetchesOf(trace []simtest.Request) (sizes []int) {
	for _, r := range trace {
		if r.API == "Fetch" && strings.Contains(r.Topic, "events") {
			sizes = append(sizes, r.Answer)
		}
	}
	return sizes
}

// TestNeighboursLookAlikeInWholeRecords exchanges events for other records of the same size with other keys, headers
// and values. A response has several fetch.Batches, and a producer's batch has one record less or one more than fit
// into a fetch.Batch. Commits are slower than their interval. For a whole topic the order log must be the same, too.
// The long form draws ten inputs for each case, and fills transactions. In the short form a case exchanges either all
// events or a few, and the next case does the other.
func TestNeighboursLookAlikeInWholeRecords(t *testing.T) {
	t.Parallel()
	model, seeds := blind(), tiertest.Runs(1, 10)
	large, late := unhurried(1040)
	limited := small(100, 600) // the limit does not count bytes in a key
	limited.env["ORIEL_MAX_RECORD_BYTES"] = "150"
	both := small(700, 1400)
	both.partitions = 2
	one, oneLarge := small(700, 1400), small(130, 700)
	one.partitions, oneLarge.partitions = 2, 2
	one.env["ORIEL_STREAM"], oneLarge.env["ORIEL_STREAM"] = "topic", "topic"
	oneLarge.env["ORIEL_MAX_RECORD_BYTES"] = "100000"
	type whole struct {
		name   string
		size   int
		in     neighbour
		faults []simtest.Fault
	}
	all := []whole{
		{"large records", largeEvent, large, late},
		{"a Batch of records less one", 100, small(2047, 2047), late},
		{"as many as a Batch takes", 100, small(2048, 2*2048), late},
		{"one more", 100, small(2049, 2*2049), late},
		{"around the limit of values", 200, limited, late},
		{"two partitions", 200, both, []simtest.Fault{slowly(30 * time.Millisecond)}},
		{"one stream of two partitions", 200, one, []simtest.Fault{slowly(30 * time.Millisecond)}},
		{"one stream, large records", largeEvent, oneLarge, []simtest.Fault{slowly(30 * time.Millisecond)}},
	}
	if seeds > 1 { // transactions that are full of input, and transactions that are full of decisions
		input, _ := unhurried(9000)
		input.env["ORIEL_COMMIT_INTERVAL"] = "10s"
		output := small(2048, 30_000)
		output.env["ORIEL_MEMORY_LIMIT"] = "83886080"
		all = append(all, whole{"full of input", largeEvent, input, nil},
			whole{"full of decisions", 100, output, []simtest.Fault{{
				// The request is not EndTxn, because the group's offset cannot be read until EndTxn ends.
				Kind: simtest.Kind{API: "AddOffsetsToTxn", Partition: simtest.AnyPartition}, Count: -1,
				Effect: simtest.Late(3 * time.Second),
			}}})
	}
	for row, c := range all {
		event := filledTo(t, records.Record{Key: []byte("user"), Value: []byte(validEvent)}, c.size, inValue)
		base := make([]records.Record, bursts*c.in.burst)
		for i := range base {
			base[i] = event
			if c.size < largeEvent && i%7 == 3 {
				base[i].Timestamp = int64(i%50 - 10) // each record has its own timestamp, because timestamps are public
			}
		}
		others := listed(wholes(t, records.Record{Key: []byte("user"), Value: []byte(validEvent)}, c.size, false))
		c.in.record = burstsOf(c.in.burst, base)
		want, _ := observe(t, model, c.in, c.faults...)
		for seed := range uint64(seeds) {
			for _, some := range tiertest.Runs([]int{1, 40}[row%2:row%2+1], []int{1, 40}) {
				random := rand.New(rand.NewPCG(seed, uint64(some)))
				c.in.record = burstsOf(c.in.burst, exchanged(random, base, some, func(int) []records.Record { return others }))
				got, _ := observe(t, model, c.in, c.faults...)
				if text := simtest.Difference(want, got); text != "" {
					t.Errorf("%s, seed %d, one in %d: %s", c.name, seed, some, text)
				}
			}
		}
	}
}

// small returns an input of one partition, with batches of this many records and short transactions.
func small(batch, burst int) neighbour {
	return neighbour{
		partitions: 1, burst: burst, framing: framing{batch: batch},
		env: map[string]string{"ORIEL_COMMIT_INTERVAL": "5ms"},
	}
}

// TestNeighboursLookAlikeCompressed exchanges an event in a compressed batch. The size of a compressed batch is public,
// so the test compares only inputs whose batches compress to equal sizes.
func TestNeighboursLookAlikeCompressed(t *testing.T) {
	model := blind()
	for codec := records.Gzip; codec <= records.Zstd; codec++ {
		in := small(40, 200)
		in.framing.codec = codec
		list := make([]records.Record, bursts*in.burst)
		random := rand.New(rand.NewPCG(7, 7))
		for i := range list {
			letters := "0123456789abcdefghijklmnopqrstuvwxyz"
			if i%2 == 1 { // malformed, so that the character that breaks an event is as frequent as letters are
				letters += "\"\\\xff\x01"
			}
			carrier := make([]byte, 150)
			for k := range carrier {
				carrier[k] = letters[random.IntN(len(letters))]
			}
			list[i].Value = fmt.Appendf(nil, `{"features":{"carrier":"%s"},"label":1}`, carrier)
		}
		in.record = burstsOf(in.burst, list)
		want, trace := observe(t, model, in, slowly(20*time.Millisecond))
		compared := 0
		for i, char := range bytes.Repeat([]byte("\"\\\xff\x01"), 5) {
			victim := (56 + 40*i) % len(list) // each victim is in a different batch
			event := list[victim].Value
			list[victim].Value = bytes.Clone(event)
			list[victim].Value[70] = char // within the value of the member carrier
			got, other := observe(t, model, in, slowly(20*time.Millisecond))
			if !slices.Equal(fetchesOf(trace), fetchesOf(other)) {
				continue
			}
			if text := simtest.Difference(want, got); text != "" {
				t.Errorf("%s, %q: %s", codec, list[victim].Value, text)
			}
			if compared++; compared == 2 {
				break
			}
		}
		if compared < 2 {
			t.Errorf("%s: %d events compress to the same size", codec, compared)
		}
	}
}

// TestNeighboursLookAlikeOfOperators exchanges events of operators for other whole records, while commits are slower
// than their interval. Keys stay if the operator reads them. In the short form the test covers one operator, its first
// events and one encoding of decisions; for the others, TestNeighboursOfEveryOperatorLookAlike exchanges only the
// events.
func TestNeighboursLookAlikeOfOperators(t *testing.T) {
	names := []string{
		"contexts-served blt", "aggregate-memory blt", "logistic tree-gaussian", "plays-ucb once-gamma",
		"gains-argmax tree-gaussian", "sets-places blt",
	}
	for _, name := range tiertest.Runs(names[:1], names) {
		for _, encoding := range tiertest.Runs(decision.Encodings[decision.Protobuf:decision.Avro], decision.Encodings[:]) {
			t.Run(name+" in "+encoding, func(t *testing.T) {
				t.Parallel()
				s := subjectOf(t, name)
				s.env["ORIEL_DECISIONS_FORMAT"] = encoding
				s.wholeRecordsLookAlike(t)
			})
		}
	}
}

func (s subject) wholeRecordsLookAlike(t *testing.T) {
	t.Helper()
	model, keyed := silenced(), s.records[0].Key != nil
	s.records = s.records[:min(len(s.records), tiertest.Runs(courseEvents, len(s.records)))]
	in, faults := unhurried(1040)
	in.further = s.further(t)
	for setting, value := range s.env {
		if setting != "ORIEL_MAX_RECORD_BYTES" {
			in.env[setting] = value
		}
	}
	base := make([]records.Record, bursts*in.burst)
	others := make([][]records.Record, len(s.records))
	for i, event := range s.records {
		others[i] = listed(wholes(t, event, largeEvent, keyed))
	}
	for i := range base {
		base[i] = filledTo(t, s.records[i%len(s.records)], largeEvent, inValue)
	}
	in.record = burstsOf(in.burst, base)
	want, _ := observe(t, model, in, faults...)
	for seed := range tiertest.Runs[uint64](1, 10) {
		random := rand.New(rand.NewPCG(seed, 1))
		in.record = burstsOf(in.burst, exchanged(random, base, 2, func(i int) []records.Record {
			return others[i%len(others)]
		}))
		got, _ := observe(t, model, in, faults...)
		if text := simtest.Difference(want, got); text != "" {
			t.Errorf("seed %d: %s", seed, text)
		}
	}
}
