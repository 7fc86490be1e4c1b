package optest

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/operators"
	"oriel/operators/neighbours"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// neighboursDifferAsClaimed records a run and replays it with one exchanged record, for each change and at several
// places. Package neighbours compares the two runs. In the short form each machine is tested with some of the changes,
// and the changes of all machines together are complete.
func (s suite) neighboursDifferAsClaimed(t *testing.T) {
	if fault := s.faultOfNeighbours(t); fault != "" {
		t.Error(fault)
	}
}

// faultOfNeighbours returns the first fault of any pair of runs, or of the sums without a machine.
func (s suite) faultOfNeighbours(tb testing.TB) string {
	tb.Helper()
	subject := s.subject(tb)
	for i, name := range changesOf(subject.Mechanism) {
		at := (1 + 7*i) % len(s.records)
		source, some := exchanged(s.records, at, otherEvents()[name], subject.Mechanism.Unit.AgainstNull())
		if !some {
			continue
		}
		report, err := subject.Compare(source, uint64(len(s.records))/subject.Mechanism.Batch, nil)
		if err != nil {
			tb.Fatal(err)
		}
		if report.Fault != "" {
			return fmt.Sprintf("%s at record %d: %s", name, at, report.Fault)
		}
	}
	fault, err := subject.CheckSums()
	if err != nil {
		tb.Fatal(err)
	}
	return fault
}

// changesOf returns the changes with which a machine over a mechanism is tested. The configuration determines the first
// one.
func changesOf(c mechanisms.Config) []string {
	names, h := slices.Sorted(maps.Keys(otherEvents())), fnv.New32a()
	fmt.Fprintf(h, "%s %d %d %v", c.Name, c.Dimension(), c.Batch, c.Terms)
	first := int(h.Sum32()%uint32(len(names))) + len(names)
	more := slices.Concat(names, names, names)[first:]
	return slices.Concat([]string{"null", "opposite"}, more[:tiertest.Runs(3, len(names))])
}

// subject returns the machine as a neighbours.Subject, which has one stream.
func (s suite) subject(tb testing.TB) *neighbours.Subject {
	tb.Helper()
	var configs []mechanisms.Config
	s.make(tb, func(c mechanisms.Config) *mechanisms.Stream {
		tb.Helper()
		configs = append(configs, c)
		return s.plans.of(tb, c).mechanism.Open([32]byte{9})
	})
	if len(configs) != 1 {
		tb.Fatalf("the machine opens %d streams, want one", len(configs))
	}
	subject := neighbours.New(configs[0], s.plans.of(tb, configs[0]).calibration, [32]byte{9},
		func(stream *mechanisms.Stream) (operators.Machine, error) {
			return s.make(tb, func(mechanisms.Config) *mechanisms.Stream { return stream }), nil
		})
	if subject.Own = s.serves; s.serves {
		subject.Extras = s.extras(tb)
	}
	return subject
}

// extras returns the members of decisions of a machine that serves: it must have the method Extras of its operator.
func (s suite) extras(tb testing.TB) []decision.Extra {
	tb.Helper()
	return s.newMachine(tb).Machine.(interface{ Extras() []decision.Extra }).Extras()
}

// listed is a neighbours.Source of records that are fixed before anything is published.
type listed struct {
	couples []neighbours.Couple
	next    int
}

func (l *listed) Next(uint64, int) neighbours.Couple {
	l.next++
	return l.couples[l.next-1]
}

func (l *listed) Observe([]operators.Decision) {}

// exchanged makes neighbouring streams of records that differ in one record. It returns false if the change has no
// effect on the record. Under zero-out the neighbouring stream has a null record in place of the changed one.
func exchanged(
	records []operators.Record, at int, change func(*operators.Record), againstNull bool,
) (source *listed, some bool) {
	source = &listed{}
	for i, r := range records {
		c := neighbours.Couple{Record: r, Neighbour: r}
		if i == at {
			c.Exchanged = true
			c.Neighbour.Event.Vector.Values = slices.Clone(r.Event.Vector.Values)
			if change(&c.Neighbour); againstNull {
				c.Record.Null, c.Record.Event = true, event.Event{}
			}
			some = !c.Record.Null || !c.Neighbour.Null
		}
		source.couples = append(source.couples, c)
	}
	return source, some
}
