package changelog_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"oriel/mechanisms/steps"
	"oriel/pipeline/changelog"
	"oriel/pipeline/embedded"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/brokertest"
	"oriel/pipeline/streams"
	"oriel/schemas/text"
	"oriel/state"
	"oriel/state/frame"
	"oriel/state/keys"
	"oriel/state/local"
)

var (
	master   = keys.NewMasterKey([32]byte{3})
	stateKey = bytes.Repeat([]byte{4}, 32)
	incKey   = bytes.Repeat([]byte{5}, 32)
)

// stream is a stream by the clock, at work: steps of a second, and two events of a user in three seconds.
type stream struct {
	walk   *streams.Walk
	sealer *state.Sealer
	counts map[string]int // records of users by period and user, which the stream does not have
	codes  []text.Code
}

func model() streams.Model {
	m := pipetest.NewSetup().Model
	m.Clock = steps.Clock{Length: 1}
	m.Users = &streams.Users{Period: steps.Clock{Length: 3}, Events: 2}
	return m
}

// opened returns the first state of a stream, and the records of its opening.
func opened(t *testing.T) (*stream, []state.Record) {
	t.Helper()
	start := &state.Ordered{LeaderEpoch: -1, Slot: 100, Clock: true}
	inc := state.NewIncarnation(state.Incarnation{Stream: "users", Order: start})
	sealer, err := inc.Sealer()
	if err != nil {
		t.Fatal(err)
	}
	m := model()
	m.First = start.Slot
	s, err := streams.OpenStream(m, nil, [32]byte{1}, [32]byte{2}, "users", inc.ID)
	if err != nil {
		t.Fatal(err)
	}
	at := state.Position{LeaderEpoch: -1, Step: 99, Semantics: 1, Order: start}
	o := works(s, sealer, at, map[string]int{})
	return o, append([]state.Record{{Key: incKey, Value: inc.Seal(master)}}, o.save()...)
}

func works(s *streams.Stream, sealer *state.Sealer, at state.Position, counts map[string]int) *stream {
	o := &stream{sealer: sealer, counts: counts}
	o.walk = &streams.Walk{
		Stream: s, Position: at.Clone(), Decided: func(uint8, []byte, []byte) {},
		Taken: func(_ *records.Record, _ int64, code text.Code) { o.codes = append(o.codes, code) },
	}
	return o
}

// save returns the records of a transaction.
func (o *stream) save() []state.Record {
	users := o.walk.Stream.Save(nil, o.sealer)
	sealed := o.sealer.Seal(nil, o.walk.Position, o.walk.Stream.AppendState(nil))
	return append(users, changelog.StateRecords(stateKey, sealed)...)
}

// take takes a record of a user in a slot, and checks whether it is one too many.
func (o *stream) take(t *testing.T, slot int64, user string) {
	t.Helper()
	at := o.walk.Position.Next
	r := records.Record{Key: []byte(user), Value: []byte("{")}
	r.Offset = at
	b := &fetch.Batch{
		From: at, Next: at + 1, LeaderEpoch: -1, Records: []records.Record{r},
		Order: &fetch.Order{Slot: slot, Closes: slot, End: at + 1},
	}
	if err := o.walk.Take(b, func() int64 { return streams.Untaken }); err != nil {
		t.Fatal(err)
	}
	key := fmt.Sprint(slot/3, " of ", user)
	o.counts[key]++
	if got, want := o.codes[len(o.codes)-1] == text.TooMany, o.counts[key] > 2; got != want {
		t.Fatalf("record %d of %s: one too many %t, want %t", o.counts[key], key, got, want)
	}
}

// restored opens the stream that a view has.
func restored(t *testing.T, view *changelog.View, counts map[string]int) *stream {
	t.Helper()
	sealed, err := view.Sealed(stateKey)
	if err != nil {
		t.Fatal(err)
	}
	saved, err := view.OpenSaved(model(), master, 0, view.Value(incKey), sealed)
	if err != nil {
		t.Fatal(err)
	}
	return works(saved.Stream, saved.Sealer, saved.Position, maps.Clone(counts))
}

// TestUsersAreCommittedWithTheirState commits and aborts transactions of a stream with users on a broker. After an
// abort, a crash between commit and local copy, or at any time, a new process restores the stream from the changelog
// and the local copy, and goes on from the last commit. No user has more than two events in a period, ever.
func TestUsersAreCommittedWithTheirState(t *testing.T) {
	ctx, disk := t.Context(), vfs.NewMem()
	client := brokertest.Client(t, brokertest.Embedded(t, embedded.Options{}).Addr(), kafka.Config{})
	if err := topics.Create(ctx, client, "log", 1, 1, nil); err != nil {
		t.Fatal(err)
	}
	cluster, err := topics.Describe(ctx, client, "log")
	if err != nil {
		t.Fatal(err)
	}
	store, err := local.Options{FS: disk}.Open("state", state.Identity{Name: "users"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	producer, err := produce.New(ctx, client, "users", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	transact := func(all []state.Record, commit bool) (last int64) {
		var pack records.Pack
		for _, r := range all {
			pack.Append(r.Key, r.Value, nil, 1)
		}
		err := producer.Begin(ctx, []kafka.TopicPartition{{Topic: "log"}})
		if err == nil {
			last, err = producer.ProduceAll(ctx, "log", 0, &pack)
		}
		if err == nil {
			err = producer.End(ctx, commit)
		}
		if err != nil {
			t.Fatal(err)
		}
		return last
	}
	_, opening := opened(t)
	transact(opening, true)
	r := rand.New(rand.NewPCG(1, 1))
	restart := func(counts map[string]int) (*stream, *changelog.View) {
		copied, err := store.Load(0)
		if err != nil {
			t.Fatal(err)
		}
		bounds, err := topics.ReadableEnd(ctx, client, "log", 0)
		if err != nil {
			t.Fatal(err)
		}
		view, err := changelog.Read(ctx, client, cluster.Topics["log"], 0, bounds, copied)
		if err != nil {
			t.Fatal(err)
		}
		o := restored(t, view, counts)
		if err := store.Replace(0, view.Records()); err != nil {
			t.Fatal(err)
		}
		view.LetGo()
		return o, view
	}
	counts, slot, most := map[string]int{}, int64(100), uint32(0)
	o, view := restart(counts)
	for range 300 {
		for range r.IntN(6) {
			slot += r.Int64N(12) / 11
			o.take(t, slot, fmt.Sprint("user ", r.IntN(4)))
		}
		all, commit := o.save(), r.IntN(4) > 0
		most = max(most, o.walk.Stream.Saved()[0].Segments)
		last := transact(all, commit)
		if commit {
			counts = maps.Clone(o.counts)
			view.Follow(all, last)
			if r.IntN(4) > 0 {
				if err := store.Follow(0, append(all, view.LocalRecord())); err != nil {
					t.Fatal(err)
				}
			} else {
				commit = false // the process dies before the local copy is written
			}
		}
		if !commit || r.IntN(4) == 0 {
			o, view = restart(counts)
			slot = o.walk.Position.Order.Slot
		}
	}
	if slot < 130 || most < 5 {
		t.Errorf("ended in slot %d, with at most %d parts in a period", slot, most)
	}
	copied, err := store.Load(0)
	if err != nil || len(copied) > 3+int(o.walk.Stream.Saved()[0].Segments) {
		t.Errorf("the local copy keeps %d records, %v", len(copied), err)
	}
}

// TestPartsThatAreNotTheStatesAreRefused opens a state with other parts than it counts, and with parts of earlier
// periods and other incarnations, which it must not read.
func TestPartsThatAreNotTheStatesAreRefused(t *testing.T) {
	o, opening := opened(t)
	var log []state.Record
	log = append(log, opening...)
	for i, user := range []string{"a", "b", "a", "c", "a", "b"} {
		o.take(t, 100+int64(i)*2/3, user) // periods 33 and 34
		log = append(log, o.save()...)
	}
	other, _ := opened(t)
	other.take(t, 102, "d")
	view := func() *changelog.View {
		view := changelog.NewView(topics.Topic{})
		view.Follow(log, 0)
		return view
	}
	key := func(period uint64, number uint32) []byte { return o.sealer.SegmentKey(frame.KindUsers, period, number) }
	period := o.walk.Stream.Saved()[0].Span
	if s := o.walk.Stream.Saved()[0]; s.Span != 34 || s.Segments != 3 {
		t.Fatalf("saved %+v", s)
	}
	for what, c := range map[string]struct {
		change func(view *changelog.View)
		want   string // "": the stream opens
	}{
		"nothing":                       {func(*changelog.View) {}, ""},
		"an old part in the local copy": {func(v *changelog.View) { v.Set(key(33, 0), []byte("old")) }, ""},
		"a part of another incarnation": {func(v *changelog.View) { v.Follow(other.save(), 0); v.Follow(log, 0) }, ""},
		"the first part is lost": {
			func(v *changelog.View) { v.Follow([]state.Record{{Key: key(period, 0)}}, 0) },
			`has 2 records of the kind "segment of a period's users", and its state counts 3`,
		},
		"the last part is lost": {
			func(v *changelog.View) { v.Follow([]state.Record{{Key: key(period, 2)}}, 0) },
			`has 2 records of the kind "segment of a period's users", and its state counts 3`,
		},
		"a part more": {
			func(v *changelog.View) { v.Set(key(period, 3), v.Value(key(period, 2))) },
			`has 4 records of the kind "segment of a period's users", and its state counts 3`,
		},
		"another part in its place": {
			func(v *changelog.View) { v.Set(key(period, 1), v.Value(key(period, 2))) },
			"part 2 of period 34 in the place of part 1 of period 34",
		},
		"a damaged part": {func(v *changelog.View) { v.Set(key(period, 1), []byte("damaged")) }, "state: unknown format"},
	} {
		v := view()
		c.change(v)
		sealed, err := v.Sealed(stateKey)
		if err != nil {
			t.Fatal(err)
		}
		saved, err := v.OpenSaved(model(), master, 0, v.Value(incKey), sealed)
		switch {
		case c.want != "" && (err == nil || !strings.Contains(fmt.Sprintf("%v %+v", err, err), c.want)):
			t.Errorf("%s: %v", what, err)
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", what, err)
		case c.want == "":
			again := works(saved.Stream, saved.Sealer, saved.Position, maps.Clone(o.counts))
			for _, user := range []string{"a", "b", "c", "d", "a", "b", "c"} {
				again.take(t, 103, user)
			}
			kept := slices.DeleteFunc(v.Records(), func(r state.Record) bool { return !state.IsSegmentKey(string(r.Key)) })
			if len(kept) != 3 {
				t.Errorf("%s: the view keeps %d parts", what, len(kept))
			}
		}
	}
}
