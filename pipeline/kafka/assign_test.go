package kafka

import (
	"fmt"
	"testing"
)

func TestAssignGivesEachPartitionOnce(t *testing.T) {
	a, b, c := subscriber{"a", []string{"t"}}, subscriber{"b", []string{"u", "t"}}, subscriber{"c", []string{"t"}}
	other := subscriber{"aa", []string{"u"}}
	f := func(partitions int, members []subscriber, want string) {
		t.Helper()
		if got := fmt.Sprint(assign("t", partitions, members)); got != want {
			t.Errorf("%d partitions: %s, want %s", partitions, got, want)
		}
	}
	f(5, []subscriber{a}, "[{a [0 1 2 3 4]}]")
	f(4, []subscriber{c, a, b}, "[{a [0]} {b [1]} {c [2 3]}]")
	f(2, []subscriber{a, b, c}, "[{a []} {b [0]} {c [1]}]")
	f(4, []subscriber{other, b, a}, "[{a [0 1]} {aa []} {b [2 3]}]")
	f(0, []subscriber{a, b}, "[{a []} {b []}]")
	f(3, []subscriber{other}, "[{aa []}]")
}

// TestGroupBytesComeBack reads what the group requests carry, and what other clients append to it.
func TestGroupBytesComeBack(t *testing.T) {
	topics := parseSubscription(&wireReader{b: append(appendSubscription(nil, "t"), 1, 2, 3)})
	if fmt.Sprint(topics) != "[t]" {
		t.Errorf("topics %v", topics)
	}
	share := appendAssignment(nil, "t", []int32{5, 2})
	answer := appendSized([]byte{0, 0, 0, 0, 0, 0}, share) // throttle, code
	for topic, want := range map[string]string{"t": "[2 5]", "u": "[]"} {
		r := &wireReader{b: answer}
		code, partitions := parseSync(r, topic)
		if code != 0 || r.err != nil || fmt.Sprint(partitions) != want {
			t.Errorf("%s: code %d, %v, partitions %v, want %s", topic, code, r.err, partitions, want)
		}
	}
	r := &wireReader{b: appendSized([]byte{0, 0, 0, 0, 0, 0}, share[:len(share)-6])}
	if parseSync(r, "t"); r.err == nil {
		t.Error("an assignment that is cut short is taken")
	}
}
