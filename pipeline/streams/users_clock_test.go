package streams

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms/steps"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/schemas/event"
	"oriel/schemas/text"
	"oriel/state"
	"oriel/state/frame"
)

// keyOf returns the key of a record of a clockWorld: one of three users, or none.
func keyOf(partition int32, offset int64) []byte {
	if n := (offset + 2*int64(partition)) % 7 % 4; n < 3 {
		return fmt.Append(nil, "user ", n)
	}
	return nil
}

// valueOf returns the value of a record of a clockWorld; 0 is none.
func valueOf(offset int64) int64 { return offset / 3 % 4 }

// distinct is an operator whose events have values.
type distinct struct{ fakeOperator }

func (distinct) Value(dst []byte, e event.Event) (value []byte, has bool) {
	return append(dst, byte(e.Vector.Values[0])), e.Vector.Values[0] != 0
}

// admitted returns the decisions of a world with users and the codes of all records, computed without a walk: of the
// records sorted by slot, partition and offset, the first k with the same key and period count. With values, the first
// record counts with each of the first m values of a key in a period.
func (c *clockWorld) admitted() (decisions, codes []string) {
	type place struct{ slot, partition, offset int64 }
	var all []place
	sums, ends, closed := map[uint64]uint64{}, [2]int64{}, int64(0)
	for _, o := range c.records {
		for p := range o.slots {
			for _, slot := range o.slots[p] {
				if slot > 0 {
					all = append(all, place{slot, int64(p), ends[p]})
				}
				ends[p]++
			}
		}
		closed = o.closes + 1
	}
	slices.SortFunc(all, func(a, b place) int {
		return int(a.slot-b.slot)<<40 + int(a.partition-b.partition)<<20 + int(a.offset-b.offset)
	})
	counts, values, of := map[string]uint64{}, map[string]bool{}, c.users.Values
	for _, r := range all {
		code, key := text.OK, keyOf(int32(r.partition), r.offset)
		user := fmt.Sprintf("%s of %d", key, (r.slot-c.users.Period.Offset)/c.users.Period.Length)
		switch counts[user]++; {
		case r.slot < c.first:
			counts[user]--
		case key == nil:
			code = text.NoUser
		case of == 0 && counts[user] > c.users.Events:
			code = text.TooMany
		case r.offset%5 == 3:
			code = text.JSONSyntax
		case of > 0:
			value := fmt.Sprint(user, " ", valueOf(r.offset))
			if valueOf(r.offset) == 0 || values[value] || counts[user+" values"] == of {
				break
			}
			values[value] = true
			counts[user+" values"]++
			sums[c.clock.Of(r.slot)] += weight(int32(r.partition), r.offset)
		default:
			sums[c.clock.Of(r.slot)] += weight(int32(r.partition), r.offset)
		}
		codes = append(codes, fmt.Sprintf("%d/%d %s", r.partition, r.offset, code))
	}
	for k := c.clock.Of(c.first); c.clock.End(k) <= closed; k++ {
		decisions = append(decisions, fmt.Sprintf("%d %d at %d: %d", k, k, c.clock.End(k)*1000, sums[k]))
	}
	return decisions, codes
}

// saved is all that a stream has durable: its place, its state, and the parts of users in the changelog.
type saved struct {
	at        state.Position
	private   []byte
	changelog map[string][]byte
	decisions []string
	codes     []string
}

// save saves the walk as a transaction does.
func (s *saved) save(t *testing.T, w *Walk, sealer *state.Sealer) {
	changelog := maps.Clone(s.changelog)
	for _, r := range w.Stream.Save(nil, sealer) {
		if _, is := changelog[string(r.Key)]; is == (r.Value != nil) {
			t.Fatalf("a part %x is written twice, or ends without being there", r.Key)
		}
		if changelog[string(r.Key)] = r.Value; r.Value == nil {
			delete(changelog, string(r.Key))
		}
	}
	s.at, s.private, s.changelog = w.Position.Clone(), w.Stream.AppendState(nil), changelog
	if parts := w.Stream.Saved()[0].Segments; int(parts) != len(changelog) {
		t.Fatalf("the changelog has %d parts, the state counts %d", len(changelog), parts)
	}
}

// restored returns a walk that goes on from what is saved.
func (s *saved) restored(t *testing.T, c *clockWorld, sealer *state.Sealer) *Walk {
	w := c.walk(t, s.at, s.private, &s.decisions)
	err := w.Stream.Take(func(kind frame.Kind, span uint64, number uint32) (state.Segment, error) {
		return sealer.OpenSegment(kind, s.changelog[string(sealer.SegmentKey(kind, span, number))])
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Taken = func(r *records.Record, _ int64, code text.Code) {
		s.codes = append(s.codes, fmt.Sprintf("%d %s", r.Offset, code))
	}
	return w
}

// TestUsersInPeriods walks over random inputs of three users, with periods of one step and of several, with a number of
// events or of values, and compares decisions and codes with those of a twin. The walk stops at random records and
// steps. Then either another walk goes on from what was saved there, or the process has died before the save, and all
// that came after the last one is lost.
func TestUsersInPeriods(t *testing.T) {
	inc := state.NewIncarnation(state.Incarnation{Stream: "t"})
	sealer, err := inc.Sealer()
	if err != nil {
		t.Fatal(err)
	}
	r, many := rand.New(rand.NewPCG(7, 24)), 0
	for trial := range 240 {
		clock := steps.Clock{Length: []int64{1, 2, 5, 60}[trial%4]}
		clock.Offset = r.Int64N(clock.Length)
		period := steps.Clock{Length: clock.Length * []int64{1, 2, 6}[trial%3], Offset: clock.Offset}
		c := &clockWorld{
			clock: clock, first: clock.Begin(30), users: &Users{Period: period, Events: 1 + uint64(trial%5/3)},
		}
		if trial%5 < 2 {
			c.users.Events, c.users.Values = 0, 1+uint64(trial%5)
		}
		if c.begins = c.first; trial%2 == 0 {
			c.begins--
		}
		c.random(r)
		last := saved{
			at: state.Position{
				LeaderEpoch: -1, Step: 29, Order: &state.Ordered{Clock: true, Slot: c.begins, LeaderEpoch: -1},
			},
			changelog: map[string][]byte{},
		}
		for int(last.at.Order.Next) < len(c.records) {
			now := last
			now.decisions, now.codes = slices.Clone(last.decisions), slices.Clone(last.codes)
			w, left := now.restored(t, c, sealer), r.IntN(8)
			w.Passes = func(int64, int64, bool) bool { left--; return left >= 0 }
			for _, b := range c.batches(now.at) {
				taken := w.Taken
				w.Taken = func(r *records.Record, gap int64, code text.Code) {
					taken(r, gap, code)
					now.codes[len(now.codes)-1] = fmt.Sprintf("%d/%s", b.Partition, now.codes[len(now.codes)-1])
				}
				err := w.Take(b, func() int64 {
					if left--; left < 0 {
						return 0
					}
					return Untaken
				})
				w.Taken = taken
				if errors.Is(err, ErrEnded) || left < 0 {
					break
				}
			}
			if r.IntN(3) > 0 {
				now.save(t, w, sealer)
				last = now
			}
		}
		decisions, codes := c.admitted()
		if !slices.Equal(last.decisions, decisions) || !slices.Equal(last.codes, codes) {
			t.Fatalf("trial %d, %+v\n got %q\nwant %q\n got %q\nwant %q", trial, c, last.decisions, decisions, last.codes, codes)
		}
		many += strings.Count(strings.Join(codes, " "), "too_many")
	}
	if many < 300 {
		t.Errorf("%d records are one too many of their user", many)
	}
}

// BenchmarkUsersInPeriods walks over records of 10⁷ users, of one event each in a period, and over the same records
// without users.
func BenchmarkUsersInPeriods(b *testing.B) {
	const people, batch = 10_000_000, 2000
	for name, u := range map[string]*Users{
		"users=none": nil, "users=10000000": {Period: steps.Clock{Length: steps.Day}, Events: 1},
	} {
		b.Run(name, func(b *testing.B) {
			c := clockWorld{clock: steps.Clock{Length: 1}, first: 100, users: u}
			at := state.Position{LeaderEpoch: -1, Step: 99, Order: &state.Ordered{Clock: true, Slot: 100, LeaderEpoch: -1}}
			w := c.walk(b, at, nil, new([]string))
			all := &fetch.Batch{Records: make([]records.Record, batch), Order: &fetch.Order{Slot: 100, Closes: 100}}
			for i := range all.Records {
				all.Records[i] = recordsAt(0, int64(i))[0]
				all.Records[i].Key = make([]byte, 16)
			}
			user := uint64(0)
			b.ReportAllocs()
			for left := 0; b.Loop(); left-- {
				if left > 0 {
					continue
				}
				left = batch
				for i := range all.Records {
					all.Records[i].Offset = all.Next + int64(i)
					binary.BigEndian.PutUint64(all.Records[i].Key, user*0x9e3779b97f4a7c15)
					user = (user + 1) % people
				}
				all.From, all.Next = all.Next, all.Next+batch
				if err := w.Take(all, func() int64 { return Untaken }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
