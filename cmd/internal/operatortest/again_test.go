package operatortest

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"oriel/schemas/decision"
	"oriel/state"
	"oriel/state/frame"
)

// kill simulates a crash: another process continues from a state that was sealed some records earlier. Its decisions on
// the repeated records must have the same bytes.
func (s *story) kill(t *testing.T, c *datadriven.TestData) string {
	lost := 0
	c.MaybeScanArgs(t, "lost", &lost)
	stands := len(s.log) - 1 - lost
	if stands < 0 {
		c.Fatalf(t, "%d records were taken", len(s.log))
	}
	at, private, err := s.sealer.Open(s.log[stands].sealed)
	if err != nil {
		c.Fatalf(t, "%v", err)
	}
	next := s.from(t, at)
	if err := next.walk.Stream.Restore(private); err != nil {
		c.Fatalf(t, "%v", err)
	}
	next.complete(t, s, s.log[:stands+1])
	if again, _ := next.save(s); !bytes.Equal(again, private) {
		c.Fatalf(t, "the state that was opened is not the one that was sealed")
	}
	next.log, next.decisions = s.log[:stands+1:stands+1], s.decisions[:s.log[stands].decisions:s.log[stands].decisions]
	next.takeAgain(t, s, s.log[stands+1:])
	again := len(s.decisions) - s.log[stands].decisions
	s.same(t, next)
	s.life = next
	return fmt.Sprintf("the state of record %d; %d records again: %d decisions, the same bytes",
		s.log[stands].record.Offset, lost, again)
}

func (s *story) replay(t *testing.T, _ *datadriven.TestData) string {
	again := s.begin(t)
	again.takeAgain(t, s, s.log)
	s.same(t, again)
	return fmt.Sprintf("%d records, %d decisions: the same bytes", len(s.log), len(s.decisions))
}

// same checks that the bytes of all decisions and of the state are equal.
func (s *story) same(t *testing.T, again *life) {
	t.Helper()
	for i, p := range s.decisions {
		if i >= len(again.decisions) || again.decisions[i] != p {
			t.Fatalf("of %d decisions and %d again, number %d differs:\n%s\n%s", len(s.decisions), len(again.decisions), i+1,
				p.line, again.decisions[min(i, len(again.decisions)-1)].line)
		}
	}
	if len(again.decisions) != len(s.decisions) {
		t.Fatalf("%d decisions, %d again", len(s.decisions), len(again.decisions))
	}
	got, _ := again.save(s)
	if want, _ := s.save(s); !bytes.Equal(got, want) && s.walk.Position.Order == nil {
		t.Fatal("the decisions are the same, and the states differ")
	}
}

// takeAgain consumes records of the log again, each at its time.
func (l *life) takeAgain(t *testing.T, s *story, log []taken) {
	t.Helper()
	for _, x := range log {
		l.slot = x.slot
		l.take(s, x.record)
	}
	if l.slot = s.slot; l.walk.Position.Order != nil {
		l.passes(t)
	}
}

// complete gives a restored stream the segments that belong to its state: those which the records of the log have
// written, and not deleted.
func (l *life) complete(t *testing.T, s *story, log []taken) {
	t.Helper()
	segments := map[string][]byte{}
	for _, x := range log {
		for _, r := range x.segments {
			segments[string(r.Key)] = r.Value
		}
	}
	err := l.walk.Stream.Take(func(kind frame.Kind, span uint64, number uint32) (state.Segment, error) {
		return s.sealer.OpenSegment(kind, segments[string(s.sealer.SegmentKey(kind, span, number))])
	})
	if err != nil {
		t.Fatal(err)
	}
}

// exchange replays the log with another value in place of one record, under the same key. The public properties of
// decisions must stay the same, and so must all earlier decisions; only the numbers of later decisions may differ.
func (s *story) exchange(t *testing.T, c *datadriven.TestData) string {
	var place int
	c.ScanArgs(t, "at", &place)
	if place >= len(s.log) {
		c.Fatalf(t, "%d records were taken", len(s.log))
	}
	other := s.begin(t)
	for i, record := range s.log {
		r := record.record
		if i == place {
			r.Value = []byte(strings.TrimSuffix(c.Input, "\n"))
		}
		other.take(s, r)
	}
	if len(other.decisions) != len(s.decisions) {
		t.Fatalf("%d decisions, %d with the exchange", len(s.decisions), len(other.decisions))
	}
	early := 0
	if place > 0 {
		early = s.log[place-1].decisions
	}
	differ := 0
	for i, p := range s.decisions {
		q := other.decisions[i]
		a, errA := decision.Parse([]byte(p.line))
		b, errB := decision.Parse([]byte(q.line))
		if errA != nil || errB != nil || a.Index != b.Index || a.Step != b.Step || len(a.Point) != len(b.Point) ||
			p.output != q.output || p.key != q.key {
			t.Fatalf("the exchange shows outside the numbers:\n%s\n%s", p.line, q.line)
		}
		if p != q {
			differ++
			if i < early {
				t.Fatalf("the exchange shows before it:\n%s\n%s", p.line, q.line)
			}
		}
	}
	return fmt.Sprintf("%d decisions before it, the same; of %d after it %d are others, of the same steps and indices",
		early, len(s.decisions)-early, differ)
}

// would reports the keys under which a record would add something to the sums. It does not consume the record.
func (s *story) would(t *testing.T, c *datadriven.TestData) string {
	keys, _ := c.Arg("keys")
	var adds []string
	for _, key := range spread(keys.Vals) {
		if s.adds(t, s.next(key+"|"+strings.TrimSuffix(c.Input, "\n"))) {
			adds = append(adds, key)
		}
	}
	if adds == nil {
		return "under none"
	}
	return "under " + strings.Join(adds, ", ")
}

// spread expands ranges such as 1-4 into single numbers.
func spread(texts []string) (keys []string) {
	for _, text := range texts {
		low, high, _ := strings.Cut(text, "-")
		first, errFirst := strconv.Atoi(low)
		last, errLast := strconv.Atoi(high)
		if errFirst != nil || errLast != nil {
			keys = append(keys, text)
			continue
		}
		for n := first; n <= last; n++ {
			keys = append(keys, strconv.Itoa(n))
		}
	}
	return keys
}
