package group

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestAssignGivesEachPartitionOnce(t *testing.T) {
	wants := func(member, mark string, topics ...string) subscriber {
		return subscriber{member, subscription{topics, mark, claim{generation: -1}}}
	}
	a, b, c := wants("a", "m", "t"), wants("b", "m", "u", "t"), wants("c", "m", "t")
	other, unmarked, foreign := wants("aa", "m", "u"), wants("ab", "", "t"), wants("bb", "n", "t")
	f := func(partitions int, members []subscriber, want string) {
		t.Helper()
		if got := fmt.Sprint(assign("t", "m", partitions, members)); got != want {
			t.Errorf("%d partitions: %s, want %s", partitions, got, want)
		}
	}
	f(5, []subscriber{a}, "[{a [0 1 2 3 4]}]")
	f(4, []subscriber{c, a, b}, "[{a [0 1]} {b [2]} {c [3]}]")
	f(2, []subscriber{a, b, c}, "[{a [0]} {b [1]} {c []}]")
	f(4, []subscriber{other, b, a}, "[{a [0 1]} {aa []} {b [2 3]}]")
	f(0, []subscriber{a, b}, "[{a []} {b []}]")
	f(3, []subscriber{other}, "[{aa []}]")
	f(4, []subscriber{foreign, b, unmarked, a}, "[{a [0 1]} {ab []} {b [2 3]} {bb []}]")
	f(4, []subscriber{unmarked}, "[{ab []}]")

	has := func(s subscriber, generation int32, partitions ...int32) subscriber {
		s.claim = claim{partitions, generation}
		return s
	}
	// a member that comes or comes back moves no stream
	f(1, []subscriber{a, has(b, 7, 0)}, "[{a []} {b [0]}]")
	f(1, []subscriber{a, has(b, 7, 0), c}, "[{a []} {b [0]} {c []}]")
	f(3, []subscriber{a, has(b, 7, 1), has(c, 7, 0, 2)}, "[{a []} {b [1]} {c [0]}]")
	f(3, []subscriber{a, has(b, 8, 1), has(c, 8, 0)}, "[{a [2]} {b [1]} {c [0]}]")
	// a partition that its owner gives up belongs to nobody until the owner has joined without it
	f(4, []subscriber{has(a, 7, 0, 1, 2, 3), b}, "[{a [0 1]} {b []}]")
	f(4, []subscriber{has(a, 8, 0, 1), b}, "[{a [0 1]} {b [2 3]}]")
	// an owner that left leaves its share free
	f(4, []subscriber{has(b, 9, 2, 3)}, "[{b [0 1 2 3]}]")
	// the newest generation counts; whoever missed it has lost its share
	f(2, []subscriber{has(a, 3, 0, 1), has(b, 4, 0, 1)}, "[{a []} {b [0]}]")
	f(1, []subscriber{has(a, 4, 0), has(b, 4, 0)}, "[{a [0]} {b []}]")
	// claims of others, and of partitions that there are not, count for nothing
	f(2, []subscriber{a, has(foreign, 9, 0, 1), has(unmarked, 9, 0), has(other, 9, 1)},
		"[{a [0 1]} {aa []} {ab []} {bb []}]")
	f(2, []subscriber{has(a, 7, -1, 2, 9), b}, "[{a [0]} {b [1]}]")
}

// TestAssignSettles runs groups whose members come and go at random. After at most one more generation every partition
// has one owner, sizes differ by at most one, and a further generation changes nothing. No partition ever passes from
// one living member to another in one generation.
func TestAssignSettles(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	for range 300 {
		partitions := rng.IntN(12)
		shares, generation := map[string][]int32{}, int32(0)
		next := func() map[string][]int32 {
			var members []subscriber
			for m, share := range shares {
				members = append(members, subscriber{m, subscription{[]string{"t"}, "m", claim{share, generation}}})
			}
			generation++
			given := map[string][]int32{}
			for _, a := range assign("t", "m", partitions, members) {
				given[a.member] = a.partitions
				for _, p := range a.partitions {
					for m, share := range shares {
						if m != a.member && slices.Contains(share, p) {
							t.Fatalf("partition %d passes from %s to %s at once: %v", p, m, a.member, shares)
						}
					}
				}
			}
			return given
		}
		for range 8 {
			for range 1 + rng.IntN(3) {
				m := string(rune('a' + rng.IntN(6)))
				if _, is := shares[m]; is && len(shares) > 1 {
					delete(shares, m)
				} else {
					shares[m] = nil
				}
			}
			shares = next()
			shares = next()
			var all []int32
			least, most := partitions, 0
			for _, share := range shares {
				all, least, most = append(all, share...), min(least, len(share)), max(most, len(share))
			}
			slices.Sort(all)
			if len(all) != partitions || len(slices.Compact(all)) != partitions || most-least > 1 {
				t.Fatalf("%d partitions: %v", partitions, shares)
			}
			if again := next(); fmt.Sprint(again) != fmt.Sprint(shares) {
				t.Fatalf("%v became %v, and nobody came or left", shares, again)
			}
		}
	}
}

// TestGroupBytesRoundTrip parses the bytes of group requests, also with data that other clients append to them.
func TestGroupBytesRoundTrip(t *testing.T) {
	for _, mark := range []string{"", "name/id"} {
		sent := append(subscriptionBytes(mark, claim{[]int32{4, 1}, 7}, "t"), 1, 2, 3)
		s := parseSubscription(sent, "t")
		if want := fmt.Sprintf("{[t] %s {[1 4] 7}}", mark); fmt.Sprint(s) != want {
			t.Errorf("%v, want %s", s, want)
		}
	}
	kept := subscriptionBytes("m", claim{[]int32{3}, 2}, Config{Topic: "t", Kept: "u"}.topics()...)
	if s := parseSubscription(kept, "t"); fmt.Sprint(s) != "{[t u] m {[3] 2}}" {
		t.Errorf("%v, want topics t and u, mark m, and the claim", s)
	}
	if s := parseSubscription(kept, "u"); fmt.Sprint(s.claim) != "{[] 2}" {
		t.Errorf("claim %v of a topic of which nothing is claimed", s.claim)
	}
	if s := parseSubscription(kept[:len(kept)-2], "t"); fmt.Sprint(s.claim) != "{[] -1}" {
		t.Errorf("claim %v from bytes that are cut short", s.claim)
	}
	if s := parseSubscription([]byte{
		0, 0, 0, 0, 0, 1, 0, 1, 't', 0xff, 0xff, 0xff,
		0xff,
	}, "t"); fmt.Sprint(s) != "{[t]  {[] -1}}" {
		t.Errorf("%v of a consumer that says nothing more than its topic", s)
	}
	share := assignmentBytes("t", []int32{5, 2})
	for topic, want := range map[string]string{"t": "[2 5]", "u": "[]"} {
		partitions, err := parseAssignment(append(share, 1, 2, 3), topic)
		if err != nil || fmt.Sprint(partitions) != want {
			t.Errorf("%s: %v, partitions %v, want %s", topic, err, partitions, want)
		}
	}
	if _, err := parseAssignment(share[:len(share)-6], "t"); err == nil {
		t.Error("an assignment that is cut short is taken")
	}
}
