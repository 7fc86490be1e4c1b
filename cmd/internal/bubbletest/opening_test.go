package bubbletest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"oriel/cmd/internal/service"
	"oriel/cmd/internal/servicetest"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/protection"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest/simtest"
	"oriel/pipeline/streams"
	"oriel/schemas/decision"
)

// killing names the n-th request of a process, which kills the process: either before the broker receives the request,
// or after the broker has executed it.
type killing struct {
	request int
	heard   bool
}

// opening is a subject whose processes are killed while they open its partition.
type opening struct {
	subject
	model func(settings.Settings) (streams.Model, error)
	owed  int // number of decisions due before the first record
}

// openings returns subjects of each operator that publishes decisions before the first record, under each of its rules,
// and two subjects that publish none.
func openings(t *testing.T) (all []opening) {
	t.Helper()
	for _, name := range []string{
		"plays-ucb once-gamma", "plays-exp3 once-gamma", "plays-doubling blt", "worths-halving once-gamma",
		"worths-drawn draws", "logistic tree-gaussian", "contexts-served blt",
	} {
		o := opening{subject: subjectOf(t, name), model: seated(func(*streams.Model, protection.Guarantee) {})}
		m, err := o.model(o.settings)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := m.Learner.Params()
		if err != nil {
			t.Fatal(err)
		}
		stream, err := streams.OpenStream(m, plan, [32]byte{}, [32]byte{}, "0", [16]byte{})
		if err != nil {
			t.Fatal(err)
		}
		_, o.owed = stream.Due(0)
		if plays := strings.HasPrefix(name, "plays") || strings.HasPrefix(name, "worths"); plays != (o.owed > 0) {
			t.Fatalf("%s owes %d decisions", name, o.owed)
		}
		all = append(all, o)
	}
	return all
}

// requests returns the numbers of an opening's first and last request among all requests of its process, in an
// undisturbed run.
func (o opening) requests(t *testing.T) (first, last int) {
	synctest.Test(t, func(t *testing.T) {
		d := newBubble(t, 1, o.env, o.model)
		a := d.Start("a", simtest.NewDisk(), service.Run)
		time.Sleep(3 * time.Second)
		place := 0
		for _, r := range d.Broker.Requests() {
			if r.Member != "a" {
				continue
			}
			place++
			if r.API == "InitProducerID" && first == 0 {
				first = place
			}
			if r.API == "EndTxn" {
				last = place
			}
		}
		if err := a.Stop(); err != nil {
			t.Errorf("%v: %s", err, a.Out.String())
		}
	})
	return first, last
}

// openingRecords is the number of records that the deployment consumes.
const openingRecords = 12

// survives starts processes that are killed in turn, and then one that is not. The partition must consume its events,
// and each decision must have only one value, also in aborted records.
func (o opening) survives(t *testing.T, kills ...killing) {
	synctest.Test(t, func(t *testing.T) {
		d := newBubble(t, 1, o.env, o.model)
		disk, said := simtest.NewDisk(), ""
		for _, k := range kills {
			a := d.Start("a", disk, service.Run)
			a.KillAtRequest(k.request, k.heard)
			time.Sleep(handover)
			a.Kill()
			disk, said = a.Disk(), said+a.Out.String()
		}
		last := d.Start("a", disk, service.Run)
		d.Send(0, o.records[:openingRecords]...)
		time.Sleep(handover)
		if err := last.Stop(); err != nil {
			t.Errorf("%v", err)
		}
		d.oneValueEach(o)
		if t.Failed() {
			t.Log(said + last.Out.String())
		}
	})
}

// oneValueEach checks that each decision of a partition has only one value, and that all events are consumed.
func (d bubble) oneValueEach(o opening) {
	t := d.T
	t.Helper()
	values := map[uint64][]byte{}
	var committed []uint64
	first := 0
	for _, topic := range append([]string{"decisions"}, o.further(t)...) {
		for _, uncommitted := range []bool{false, true} {
			for _, r := range d.Read(d.Topic(topic), 0, uncommitted) {
				decision, err := decision.Parse(r.Value)
				if err != nil {
					t.Fatal(err)
				}
				if other := values[decision.Index]; other != nil && !bytes.Equal(other, r.Value) {
					t.Errorf("decision %d has two values:\n%s\n%s", decision.Index, other, r.Value)
				}
				values[decision.Index] = r.Value
				if uncommitted {
					continue
				}
				committed = append(committed, decision.Index)
				if decision.Step == 0 {
					first++
				}
			}
		}
	}
	slices.Sort(committed)
	if once := slices.Compact(slices.Clone(committed)); len(once) != len(committed) ||
		!slices.Equal(once, slices.Sorted(maps.Keys(values))) {
		t.Errorf("decisions %d are committed, and %d can be read", committed, slices.Sorted(maps.Keys(values)))
	}
	if first != o.owed {
		t.Errorf("%d decisions before the first event, want %d", first, o.owed)
	}
	if taken, err := group.CommittedOffset(t.Context(), d.Client, "late", d.Env["ORIEL_INPUT_TOPIC"], 0); err != nil ||
		taken != openingRecords {
		t.Errorf("the group stands at %d, %v", taken, err)
	}
}

// TestAnOpeningOfEachOperatorSurvives kills the process at any two requests of an opening. arms, bandit and sets
// publish actions before the first event. If a process died after these actions and before it wrote its state, no
// process could open the partition again.
func TestAnOpeningOfEachOperatorSurvives(t *testing.T) {
	all := tiertest.Runs(false, true) // the long form covers each pair of requests, which takes an hour
	for k, o := range openings(t) {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			first, last := o.requests(t)
			if first == 0 || last-first < 15 {
				t.Fatalf("an opening of the requests %d to %d", first, last)
			}
			for n := first; n <= last+1; n++ {
				for m := first; m <= last+1; m++ {
					for _, heard := range []bool{false, true} {
						// If an operator publishes decisions first, its last twelve requests include the whole first commit.
						sample := (n+k)%8 == 0 || n > last-12 && o.owed > 0 && (n+k)%4 == 0
						if !all && (!sample || m != first+(7*n+k)%(last+2-first) || heard != (n/4%2 == 0)) {
							continue
						}
						o.survives(t, killing{n, heard}, killing{m, (n+m)%2 == 0})
					}
				}
			}
		})
	}
}

// TestAFirstIncarnationIsAnnounced covers a deployment all of whose topics, files and group are deleted. It opens a
// second time, and only the log can reveal this. The log must announce the opening beforehand, with offsets and names
// only, and only once.
func TestAFirstIncarnationIsAnnounced(t *testing.T) {
	for start, from := range map[string]int{"earliest": 0, "latest": 4} {
		t.Run(start, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newBubble(t, 2, map[string]string{"ORIEL_START": start}, blind())
				d.Send(1, servicetest.Events(0, 4)...)
				a := d.Start("a", simtest.NewDisk(), service.Run)
				a.KillAt(notice.PointProduced, 1) // dies before anything is committed
				time.Sleep(10 * time.Second)
				warned := func(said string, p, from int) bool {
					return slices.ContainsFunc(strings.Split(said, "\n"), func(line string) bool {
						return strings.Contains(line, "level=WARN") &&
							strings.Contains(line, "opening a FIRST incarnation of this partition") &&
							strings.HasSuffix(line, fmt.Sprintf(" name=late partition=%d from_offset=%d", p, from))
					})
				}
				if said := a.Out.String(); !warned(said, 0, 0) && !warned(said, 1, from) {
					t.Errorf("killed in its opening: %s", said)
				}
				b := d.Start("a", a.Disk(), service.Run)
				time.Sleep(10 * time.Second)
				if err := b.Stop(); err != nil {
					t.Error(err)
				}
				both := a.Out.String() + b.Out.String()
				if !warned(both, 0, 0) || !warned(both, 1, from) {
					t.Errorf("opened: %s", both)
				}
				c := d.Start("a", b.Disk(), service.Run)
				time.Sleep(10 * time.Second)
				if err := c.Stop(); err != nil || strings.Contains(c.Out.String(), "incarnation") {
					t.Errorf("started again: %v: %s", err, c.Out.String())
				}
			})
		})
	}
}
