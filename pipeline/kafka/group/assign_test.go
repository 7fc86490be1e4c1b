package group

import (
	"fmt"
	"testing"

	"oriel/pipeline/kafka/wire"
)

func TestAssignGivesEachPartitionOnce(t *testing.T) {
	wants := func(member, mark string, topics ...string) subscriber {
		return subscriber{member, subscription{topics, mark}}
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
	f(4, []subscriber{c, a, b}, "[{a [0]} {b [1]} {c [2 3]}]")
	f(2, []subscriber{a, b, c}, "[{a []} {b [0]} {c [1]}]")
	f(4, []subscriber{other, b, a}, "[{a [0 1]} {aa []} {b [2 3]}]")
	f(0, []subscriber{a, b}, "[{a []} {b []}]")
	f(3, []subscriber{other}, "[{aa []}]")
	f(4, []subscriber{foreign, b, unmarked, a}, "[{a [0 1]} {ab []} {b [2 3]} {bb []}]")
	f(4, []subscriber{unmarked}, "[{ab []}]")
}

// TestGroupBytesRoundTrip parses the bytes of group requests, also with data that other clients append to them.
func TestGroupBytesRoundTrip(t *testing.T) {
	for _, mark := range []string{"", "name/id"} {
		s := parseSubscription(&wire.Reader{B: append(appendSubscription(nil, mark, "t"), 1, 2, 3)})
		if fmt.Sprint(s.topics) != "[t]" || s.mark != mark {
			t.Errorf("topics %v, mark %q, want t and %q", s.topics, s.mark, mark)
		}
	}
	kept := appendSubscription(nil, "m", Config{Topic: "t", Kept: "u"}.topics()...)
	if s := parseSubscription(&wire.Reader{B: kept}); fmt.Sprint(s) != "{[t u] m}" {
		t.Errorf("%v, want topics t and u, mark m", s)
	}
	if s := parseSubscription(&wire.Reader{B: []byte{
		0, 0, 0, 0, 0, 1, 0, 1, 't', 0xff, 0xff, 0xff,
		0xff,
	}}); fmt.Sprint(s.topics) != "[t]" || s.mark != "" {
		t.Errorf("topics %v, mark %q of a consumer that says nothing more", s.topics, s.mark)
	}
	share := appendAssignment(nil, "t", []int32{5, 2})
	answer := wire.AppendSized([]byte{0, 0, 0, 0, 0, 0}, share) // throttle time and code, then the share
	for topic, want := range map[string]string{"t": "[2 5]", "u": "[]"} {
		r := &wire.Reader{B: answer}
		code, partitions := parseSync(r, topic)
		if code != 0 || r.Err != nil || fmt.Sprint(partitions) != want {
			t.Errorf("%s: code %d, %v, partitions %v, want %s", topic, code, r.Err, partitions, want)
		}
	}
	r := &wire.Reader{B: wire.AppendSized([]byte{0, 0, 0, 0, 0, 0}, share[:len(share)-6])}
	if parseSync(r, "t"); r.Err == nil {
		t.Error("an assignment that is cut short is taken")
	}
}
