package users_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"oriel/state"
	"oriel/state/frame"
	"oriel/state/users"
)

func openPeriods(t testing.TB, events uint64) *users.Periods {
	t.Helper()
	p, err := users.NewPeriods(events, [32]byte{7})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// parts is a changelog: the parts of users by period and number.
type parts map[[2]uint64][]byte

// save saves new parts in the changelog, and deletes outdated ones.
func (c parts) save(p *users.Periods) {
	outdated := p.Outdated()
	for number := range outdated.Parts {
		delete(c, [2]uint64{outdated.Period, uint64(number)})
	}
	for part, is := p.Part(); is; part, is = p.Part() {
		c[[2]uint64{part.Span, uint64(part.Number)}] = bytes.Clone(part.Payload)
	}
}

// restore restores a state and the parts of its period.
func (c parts) restore(p *users.Periods, state []byte) error {
	if err := p.Restore(state); err != nil {
		return err
	}
	return p.Take(c.part(p.Saved().Period))
}

var errNoPart = errors.New("no such part")

func (c parts) part(period uint64) func(uint32) (state.Segment, error) {
	return func(number uint32) (state.Segment, error) {
		ids, is := c[[2]uint64{period, uint64(number)}]
		if !is {
			return state.Segment{}, errNoPart
		}
		return state.Segment{Kind: frame.KindUsers, Span: period, Number: number, Payload: ids}, nil
	}
}

// entry is a record: its period and its user.
type entry struct {
	period uint64
	user   byte
}

// accepted says of each record whether it is accepted.
func accepted(t testing.TB, events uint64, log []entry) []bool {
	p, all := openPeriods(t, events), make([]bool, len(log))
	for i, e := range log {
		all[i] = p.Admit(e.period, p.ID([]byte{e.user}))
	}
	return all
}

// TestTheFirstEventsOfAPeriodAreAccepted compares random logs with the definition: a map from users and periods to
// counts. Before each record the state is saved and restored, sometimes in Periods of another key, or not.
func TestTheFirstEventsOfAPeriodAreAccepted(t *testing.T) {
	for _, events := range []uint64{1, 2, 3, 300} {
		for _, saves := range []int{0, 1, 3} {
			rng := rand.New(rand.NewPCG(events, uint64(saves)))
			p, log, counts := openPeriods(t, events), parts{}, map[string]uint64{}
			period, people := uint64(0), 5
			for i := range 3000 {
				if rng.IntN(700) == 0 {
					period += 1 + rng.Uint64N(3)
					people = 1 + rng.IntN(40)
				}
				if saves > 0 && rng.IntN(saves) == 0 {
					log.save(p)
					again, err := users.NewPeriods(events, [32]byte{byte(i)})
					if err == nil {
						err = log.restore(again, p.AppendState(nil))
					}
					if err != nil {
						t.Fatalf("k = %d, record %d: %v", events, i, err)
					}
					p = again
				}
				user := fmt.Sprint(period, " of ", rng.IntN(people))
				counts[user]++
				id := p.ID([]byte(user[strings.Index(user, "of"):]))
				if got, want := p.Admit(period, id), counts[user] <= events; got != want {
					t.Fatalf("k = %d, record %d of %s: accepted %t, want %t", events, i, user, got, want)
				}
			}
		}
	}
}

// logs calls do with each log of up to length records, of two users in two periods.
func logs(length int, do func([]entry)) {
	var extend func([]entry, uint64)
	extend = func(log []entry, period uint64) {
		do(log)
		if len(log) == length {
			return
		}
		for ; period <= 3; period += 2 {
			for user := range byte(2) {
				extend(append(slices.Clone(log), entry{period, user}), period)
			}
		}
	}
	extend(nil, 1)
}

// TestAUserChangesNobodyElse removes records from each small log. Without all records of a user in a period, everybody
// else's records, and those of other periods, are accepted as before. Without one record of a user, at most one more of
// the same user in the same period is accepted, and at most one less.
func TestAUserChangesNobodyElse(t *testing.T) {
	for _, events := range []uint64{1, 2} {
		count, next := 0, 0
		logs(6, func(log []entry) {
			with := accepted(t, events, log)
			for i, one := range log {
				var less []entry // the log without the record i
				var others []entry
				var wantOthers []bool
				for j, e := range log {
					if j != i {
						less = append(less, e)
					}
					if e != one {
						others, wantOthers = append(others, e), append(wantOthers, with[j])
					}
				}
				if got := accepted(t, events, others); !slices.Equal(got, wantOthers) {
					t.Fatalf("k = %d, %v: without user %d in period %d accepted %v, want %v", events, log, one.user, one.period, got,
						wantOthers)
				}
				got, more := accepted(t, events, less), 0
				for j, e := range less {
					was := with[j]
					if j >= i {
						was = with[j+1]
					}
					switch {
					case got[j] == was:
					case e != one || was:
						t.Fatalf("k = %d, %v: without record %d, record %d of the rest is accepted: %t", events, log, i, j, got[j])
					default:
						more++
					}
				}
				if more > 1 || more == 1 && !with[i] {
					t.Fatalf("k = %d, %v: without record %d, %d more are accepted", events, log, i, more)
				}
				next += more
				count++
			}
		})
		if count < 4000 || next < 1000 {
			t.Fatalf("k = %d: %d removals, %d of which admit the next record", events, count, next)
		}
	}
}

// TestPartsHoldHashesInOrder checks parts: they hold the hashes of the accepted records' users, in order, and are
// numbered from 0 in each period. A save has only what came since the last one. The first save of a new period ends the
// parts of the old one.
func TestPartsHoldHashesInOrder(t *testing.T) {
	p, of := openPeriods(t, 2), open(t, 1, 1)
	var said []string
	save := func() {
		if o := p.Outdated(); o.Parts > 0 {
			said = append(said, fmt.Sprintf("end %d parts of %d", o.Parts, o.Period))
		}
		for part, is := p.Part(); is; part, is = p.Part() {
			text := fmt.Sprintf("%d/%d:", part.Span, part.Number)
			for ids := part.Payload; len(ids) > 0; ids = ids[16:] {
				for user := range "abc" {
					if id := of.ID([]byte{'a' + byte(user)}); users.ID(ids[:16]) == id {
						text += string(rune('a' + user))
					}
				}
			}
			said = append(said, text)
		}
		p.AppendState(nil)
	}
	admit := func(period uint64, names string) {
		for _, name := range names {
			p.Admit(period, p.ID([]byte(string(name))))
		}
	}
	save()
	admit(5, "aba")
	save()
	admit(5, "abbc")
	save()
	save()
	admit(5, "c")
	admit(6, "aaaa") // c is in no part, and is never needed
	save()
	admit(8, "b")
	p.Begin(9)
	save()
	admit(9, "c")
	save()
	want := []string{"5/0:aba", "5/1:bc", "end 2 parts of 5", "6/0:aa", "end 1 parts of 6", "9/0:c"}
	if !slices.Equal(said, want) {
		t.Errorf("saved %q, want %q", said, want)
	}
}

// TestPartsAreCut checks that no part has more ids than it may have, and that they restore together.
func TestPartsAreCut(t *testing.T) {
	p, log := openPeriods(t, 1), parts{}
	var name [8]byte
	for i := range 2*users.MaxPartIDs + 5 {
		binary.BigEndian.PutUint64(name[:], uint64(i))
		p.Admit(3, p.ID(name[:]))
	}
	log.save(p)
	for number, want := range []int{users.MaxPartIDs, users.MaxPartIDs, 5} {
		if got := len(log[[2]uint64{3, uint64(number)}]); got != want*users.IDSize {
			t.Errorf("part %d has %d bytes, want %d ids", number, got, want)
		}
	}
	again := openPeriods(t, 1)
	if err := log.restore(again, p.AppendState(nil)); err != nil {
		t.Fatal(err)
	}
	for i := range 2*users.MaxPartIDs + 6 {
		binary.BigEndian.PutUint64(name[:], uint64(i))
		if got, want := again.Admit(3, again.ID(name[:])), i == 2*users.MaxPartIDs+5; got != want {
			t.Fatalf("user %d: accepted %t, want %t", i, got, want)
		}
	}
}

// TestRestoreOfPeriodsRefuses checks that impossible states are refused and change nothing, and that a state with other
// parts than its own is refused.
func TestRestoreOfPeriodsRefuses(t *testing.T) {
	p, log := openPeriods(t, 2), parts{}
	for _, user := range "abaac" {
		p.Admit(5, p.ID([]byte(string(user))))
		log.save(p)
	}
	kept := p.AppendState(nil)
	if len(kept) != p.StateLen() || p.Saved() != (users.Saved{Period: 5, Parts: 4, IDs: 4}) {
		t.Fatalf("state of %d bytes, saved %+v", len(kept), p.Saved())
	}
	for what, change := range map[string]func(state []byte) []byte{
		"a byte less":        func(s []byte) []byte { return s[1:] },
		"a byte more":        func(s []byte) []byte { return append(s, 0) },
		"another version":    func(s []byte) []byte { s[0]++; return s },
		"an empty part":      func(s []byte) []byte { s[41]++; return s },
		"ids without a part": func(s []byte) []byte { s[41] = 0; return s },
	} {
		if p.Restore(change(bytes.Clone(kept))) == nil || !bytes.Equal(p.AppendState(nil), kept) {
			t.Errorf("%s: taken", what)
		}
	}
	number := func(n uint64) [2]uint64 { return [2]uint64{5, n} }
	for what, change := range map[string]func(log parts){
		"a part is lost":              func(log parts) { delete(log, number(3)) },
		"a part has an id less":       func(log parts) { log[number(0)] = nil },
		"a part has an id more":       func(log parts) { log[number(3)] = append(log[number(3)], make([]byte, 16)...) },
		"a part is of another number": func(log parts) { log[number(1)] = bytes.Repeat(log[number(0)], 2) },
		"a user has three events":     func(log parts) { log[number(3)] = log[number(0)] },
	} {
		changed := parts{}
		for key, ids := range log {
			changed[key] = ids
		}
		change(changed)
		if err := changed.restore(openPeriods(t, 2), kept); err == nil {
			t.Errorf("%s: taken", what)
		}
	}
	for _, other := range []state.Segment{{Span: 4}, {Span: 6}, {Span: 5, Number: 1}} {
		q := openPeriods(t, 2)
		err := q.Restore(kept)
		if err == nil {
			err = q.Take(func(n uint32) (state.Segment, error) {
				return state.Segment{Span: other.Span, Number: n + other.Number, Payload: log[number(uint64(n))]}, nil
			})
		}
		if err == nil || !strings.Contains(err.Error(), "in the place of part 0 of period 5") {
			t.Errorf("the part %d of period %d as part 0 of period 5: %v", other.Number, other.Span, err)
		}
	}
}

// TestBugsOfPeriodsPanic checks that a state without its parts cannot be appended, and that time does not go back.
func TestBugsOfPeriodsPanic(t *testing.T) {
	p := openPeriods(t, 1)
	p.Admit(5, p.ID([]byte("a")))
	for name, call := range map[string]func(){
		"a state without a part":          func() { p.AppendState(nil) },
		"a record of a period that ended": func() { p.Admit(4, p.ID([]byte("a"))) },
	} {
		func() {
			defer func() {
				if r, _ := recover().(string); !strings.HasPrefix(r, "BUG: users: ") {
					t.Errorf("%s: panic %q", name, r)
				}
			}()
			call()
			t.Errorf("%s: taken", name)
		}()
	}
	for _, events := range []uint64{0, users.MaxEvents + 1, 1 << 40} {
		if _, err := users.NewPeriods(events, [32]byte{}); err == nil {
			t.Errorf("k = %d is taken", events)
		}
	}
	if _, err := users.NewPeriods(users.MaxEvents, [32]byte{}); err != nil {
		t.Error(err)
	}
}

// TestAPeriodHasNoCapacity checks that many users leave the acceptance of a user alone, and that a known user's records
// allocate nothing.
func TestAPeriodHasNoCapacity(t *testing.T) {
	p := openPeriods(t, 2)
	p.Admit(1, p.ID([]byte("one")))
	var name [8]byte
	for i := range 300_000 {
		binary.BigEndian.PutUint64(name[:], uint64(i))
		if !p.Admit(1, p.ID(name[:])) {
			t.Fatalf("user %d is refused", i)
		}
		if n := i + 2; n > 50_000 && p.Bytes() > users.BytesPerUser*n {
			t.Fatalf("%d users take %d bytes", n, p.Bytes())
		}
	}
	if !p.Admit(1, p.ID([]byte("one"))) || p.Admit(1, p.ID([]byte("one"))) {
		t.Error("many users change how often one is accepted")
	}
	parts{}.save(p)
	one := []byte("one")
	if n := testing.AllocsPerRun(1000, func() { p.Admit(1, p.ID(one)) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestStateOfPeriodsIsStored pins the bytes of a state and of an id.
func TestStateOfPeriodsIsStored(t *testing.T) {
	p := openPeriods(t, 1)
	p.Admit(0x4fc4, p.ID([]byte("u")))
	p.Outdated()
	if part, _ := p.Part(); hex.EncodeToString(part.Payload) != golden {
		t.Errorf("id %x, want %s", part.Payload, golden)
	}
	const want = "01" + "0700000000000000000000000000000000000000000000000000000000000000" + "c44f000000000000" + "01000000" +
		"0100000000000000"
	if got := hex.EncodeToString(p.AppendState(nil)); got != want {
		t.Errorf("state %s, want %s", got, want)
	}
}

// FuzzRestoreOfPeriods is FuzzRestore for periods.
func FuzzRestoreOfPeriods(f *testing.F) {
	p := openPeriods(f, 2)
	f.Add(p.AppendState(nil))
	p.Admit(5, p.ID([]byte("a")))
	parts{}.save(p)
	before := p.AppendState(nil)
	f.Add(before)
	f.Fuzz(func(t *testing.T, state []byte) {
		other := openPeriods(t, 2)
		if err := other.Restore(before); err != nil {
			t.Fatal(err)
		}
		want := before
		if other.Restore(state) == nil {
			want = state
		}
		if !bytes.Equal(other.AppendState(nil), want) {
			t.Error("another state than was restored")
		}
	})
}

// TestAnIDOfZerosIsNoUser checks that a part with an id of zeros, which would mark a free slot, is refused.
func TestAnIDOfZerosIsNoUser(t *testing.T) {
	p := openPeriods(t, 1)
	p.Admit(5, p.ID([]byte("a")))
	p.Outdated()
	part, _ := p.Part()
	again := openPeriods(t, 1)
	if err := again.Restore(p.AppendState(nil)); err != nil {
		t.Fatal(err)
	}
	part.Payload = make([]byte, users.IDSize)
	err := again.Take(func(uint32) (state.Segment, error) { return part, nil })
	if err == nil || !strings.Contains(err.Error(), "part 0 of period 5 has an id of zeros") {
		t.Error(err)
	}
}
