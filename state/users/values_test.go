package users_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"oriel/state/users"
)

func openValues(t testing.TB, values uint64) *users.Periods {
	t.Helper()
	p, err := users.NewValues(values, [32]byte{7})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// visit is a record: its period, its user and its value.
type visit struct {
	period      uint64
	user, value byte
}

// firstValues is the definition of acceptance: of the values of a user in a period, each the first time that it comes,
// the first m.
type firstValues struct {
	most uint64
	seen map[string][]string // by user and period
}

func (f *firstValues) admit(period uint64, user, value string) bool {
	key := fmt.Sprint(period, " ", user)
	if slices.Contains(f.seen[key], value) || uint64(len(f.seen[key])) == f.most {
		return false
	}
	f.seen[key] = append(f.seen[key], value)
	return true
}

// TestTheFirstValuesOfAPeriodAreAccepted compares random logs with the definition. Before some records the state is
// saved and restored, in Periods of another key.
func TestTheFirstValuesOfAPeriodAreAccepted(t *testing.T) {
	for _, most := range []uint64{1, 2, 3, 20} {
		for _, saves := range []int{0, 1, 3} {
			rng := rand.New(rand.NewPCG(most, uint64(saves)))
			p, log, want := openValues(t, most), parts{}, firstValues{most, map[string][]string{}}
			period, people, accepted := uint64(0), 5, 0
			for i := range 4000 {
				if rng.IntN(700) == 0 {
					period += 1 + rng.Uint64N(3)
					people = 1 + rng.IntN(40)
				}
				if saves > 0 && rng.IntN(saves) == 0 {
					log.save(p)
					again, err := users.NewValues(most, [32]byte{byte(i)})
					if err == nil {
						err = log.restore(again, p.AppendState(nil))
					}
					if err != nil {
						t.Fatalf("m = %d, record %d: %v", most, i, err)
					}
					p = again
				}
				// Names of different lengths, so that a user and a value must not run together.
				user, value := strings.Repeat("u", 1+rng.IntN(people)), strings.Repeat("u", rng.IntN(30))
				got := p.AdmitValue(period, p.ID([]byte(user)), []byte(value))
				if want := want.admit(period, user, value); got != want {
					t.Fatalf("m = %d, record %d: accepted %t, want %t", most, i, got, want)
				}
				if got {
					accepted++
				}
			}
			if accepted < 20 {
				t.Fatalf("m = %d: %d records accepted", most, accepted)
			}
		}
	}
}

// acceptedVisits returns the accepted records of a log, each once with its place.
func acceptedVisits(t testing.TB, most uint64, log []visit) map[visit]int {
	p, accepted := openValues(t, most), map[visit]int{}
	for _, v := range log {
		if p.AdmitValue(v.period, p.ID([]byte{v.user}), []byte{v.value}) {
			accepted[v]++
		}
	}
	return accepted
}

// TestAUserMovesOneCountOfEachValue removes records from each log of up to 5 records of 2 users with 3 values in a
// period. Without all records of a user, the user's values count one less each, at most m of them, and nothing else
// changes. Without one record, at most one value less and one more of the same user count. Both bounds are reached.
func TestAUserMovesOneCountOfEachValue(t *testing.T) {
	for _, most := range []uint64{1, 2, 3} {
		largest, exchanged := 0, 0
		var each func(log []visit)
		each = func(log []visit) {
			with := acceptedVisits(t, most, log)
			moved := func(without map[visit]int, user byte) (less, more int) {
				for v := range with {
					less += with[v] - without[v]
					if with[v] > 1 || v.user != user && with[v] != without[v] {
						t.Fatalf("m = %d, %v: of %v count %d, and %d without records of user %d", most, log, v, with[v], without[v], user)
					}
				}
				for v := range without {
					if with[v] == 0 {
						more++
					}
				}
				return less, more
			}
			for user := range byte(2) {
				others := slices.DeleteFunc(slices.Clone(log), func(v visit) bool { return v.user == user })
				less, more := moved(acceptedVisits(t, most, others), user)
				largest = max(largest, less)
				if more > 0 || less > int(most) {
					t.Fatalf("m = %d, %v: without user %d, %d values less and %d more count", most, log, user, less, more)
				}
			}
			for i, v := range log {
				less, more := moved(acceptedVisits(t, most, slices.Delete(slices.Clone(log), i, i+1)), v.user)
				exchanged = max(exchanged, less+more)
				if less > 1 || more > 1 {
					t.Fatalf("m = %d, %v: without record %d, %d values less and %d more count", most, log, i, less, more)
				}
			}
			if len(log) == 5 {
				return
			}
			for user := range byte(2) {
				for value := range byte(3) {
					each(append(slices.Clone(log), visit{1, user, value}))
				}
			}
		}
		each(nil)
		if largest != int(most) || exchanged != 2 && most < 3 {
			t.Errorf("m = %d: the largest change is %d without a user and %d without a record", most, largest, exchanged)
		}
	}
}

// TestPartsOfValues checks that a part holds whole entries, that parts are cut, and that a lost pair, a pair of another
// period and one that is there twice are refused.
func TestPartsOfValues(t *testing.T) {
	const most = 2
	p, log := openValues(t, most), parts{}
	entries := users.MaxPartIDs/2 + 3
	visit := func(p *users.Periods, i int) bool {
		user := binary.BigEndian.AppendUint32(nil, uint32(i/most))
		return p.AdmitValue(3, p.ID(user), []byte{byte(i % most)})
	}
	for i := range entries {
		visit(p, i)
	}
	log.save(p)
	kept := p.AppendState(nil)
	if want := (users.Saved{Period: 3, Parts: 2, IDs: 2 * uint64(entries)}); p.Saved() != want || len(log) != 2 {
		t.Fatalf("saved %+v in %d parts, want %+v", p.Saved(), len(log), want)
	}
	again := openValues(t, most)
	if err := log.restore(again, kept); err != nil {
		t.Fatal(err)
	}
	if again.Bytes() > users.BytesPerUser*(entries/most+1)+users.BytesPerValue*entries+1<<18 {
		t.Errorf("%d entries take %d bytes", entries, again.Bytes())
	}
	for i := range entries {
		if visit(again, i) {
			t.Fatalf("pair %d is forgotten", i)
		}
	}
	if entries%most > 0 && !visit(again, entries) {
		t.Error("the last user has one value, and no other is accepted")
	}
	second := [2]uint64{3, 1}
	for what, change := range map[string]func([]byte) []byte{
		"a pair less":             func(ids []byte) []byte { return ids[32:] },
		"a user without a value":  func(ids []byte) []byte { return ids[:len(ids)-16] },
		"a pair that is twice in": func(ids []byte) []byte { return append(ids[:len(ids)-32:len(ids)-32], ids[:32]...) },
		"a user with three values": func(ids []byte) []byte {
			return append(ids[:len(ids)-32:len(ids)-32], log[[2]uint64{3, 0}][:32]...)
		},
	} {
		changed := parts{{3, 0}: log[[2]uint64{3, 0}], second: change(bytes.Clone(log[second]))}
		if changed.restore(openValues(t, most), kept) == nil {
			t.Errorf("%s: taken", what)
		}
	}
	odd := bytes.Clone(kept)
	odd[45]++
	if openValues(t, most).Restore(odd) == nil {
		t.Error("an odd number of ids is taken")
	}
	for _, values := range []uint64{0, users.MaxValues + 1} {
		if _, err := users.NewValues(values, [32]byte{}); err == nil {
			t.Errorf("m = %d is taken", values)
		}
	}
}

// TestPartOfValuesIsStored pins the bytes of an entry. The id of the user is that of TestStateOfPeriodsIsStored.
func TestPartOfValuesIsStored(t *testing.T) {
	p := openValues(t, 2)
	p.AdmitValue(0x4fc4, p.ID([]byte("u")), []byte("v"))
	p.Outdated()
	if part, _ := p.Part(); hex.EncodeToString(part.Payload) != golden+"9230ad218064e4fff047b054b58fb4dc" {
		t.Errorf("ids %x", part.Payload)
	}
}

// TestAKnownValueAllocatesNothing checks the path of most records.
func TestAKnownValueAllocatesNothing(t *testing.T) {
	p, user, value := openValues(t, 3), []byte("u"), []byte("v")
	p.AdmitValue(1, p.ID(user), value)
	if n := testing.AllocsPerRun(1000, func() { p.AdmitValue(1, p.ID(user), value) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
