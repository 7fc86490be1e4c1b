package pipetest_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
	"oriel/pipeline/streams"
)

// following is a deployment whose predecessor is NewSetup's deployment. last holds the decisions from which its params
// were made.
type following struct {
	pipetest.Setup
	mu    sync.Mutex
	last  []operators.Decision
	notes []string
}

func follow() *following {
	f := &following{Setup: pipetest.NewSetup()}
	c := &f.Config
	c.Name, c.Group = "next", "next"
	c.Decisions, c.Verdicts, c.Changelog = "next.decisions", "next.verdicts", "next.changelog"
	c.DeadLetter = "next.dead-letter"
	c.Predecessor = deployment.Predecessor{
		Name: "late", Group: "late", Decisions: "late.decisions", Changelog: "late.changelog",
	}
	f.Model.Learner = recording{f.Model.Learner, f}
	f.Listener.Note = func(_ int32, text string) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.notes = append(f.notes, text)
	}
	return f
}

// recording is the learner of f. It records the predecessor's decisions that its streams continue.
type recording struct {
	streams.Opener
	f *following
}

// Operator returns an operator that can succeed a predecessor.
func (r recording) Operator() operators.Operator { return successor{r.Opener.Operator()} }

// ParamsAfter records the predecessor's decision.
func (r recording) ParamsAfter(last operators.Decision) ([]byte, error) {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	r.f.last = append(r.f.last, last)
	return nil, nil
}

type successor struct{ operators.Operator }

func (successor) ParamsAfter(mechanisms.Config, operators.Decision) ([]byte, error) { return nil, nil }

// old runs a deployment over some events of partition 0, and then ends it.
func old(t *testing.T, d *simtest.Deployment, partitions, n int) pipetest.Setup {
	t.Helper()
	s := pipetest.NewSetup()
	if err := s.Prepare(t.Context(), d.Client(), partitions); err != nil {
		t.Fatal(err)
	}
	a := d.Start("old", simtest.NewDisk(), s.Run)
	send(t, d, s, 0, n)
	time.Sleep(3 * time.Second)
	if err := a.Stop(); err != nil {
		t.Fatal(err)
	}
	return s
}

// begins makes the topics of the next deployment and runs it for a while. It returns the process's error.
func (f *following) begins(t *testing.T, d *simtest.Deployment) error {
	t.Helper()
	if err := f.Topics(t.Context(), d.Client(), func(string) {}); err != nil {
		t.Fatal(err)
	}
	a := d.Start("next", simtest.NewDisk(), f.Run)
	time.Sleep(20 * time.Second)
	return a.Stop()
}

// offsets returns the input offsets of the events that the decisions of partition 0 belong to.
func offsets(t *testing.T, d *simtest.Deployment, topic string) (all []float64) {
	t.Helper()
	records, err := logtest.Read(t.Context(), d.Client(), topic, 0, -1, fetch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		all = append(all, decisionIn(t, r).Point[1])
	}
	return all
}

// TestADeploymentGoesOnAfterAnother checks that a deployment starts at its predecessor's offset and from its last
// decision if it has one. The predecessor must be unable to start again.
func TestADeploymentGoesOnAfterAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := simtest.New(t)
		before := old(t, d, 2, 5)
		send(t, d, before, 0, 3)
		f := follow()
		if err := f.begins(t, d); err != nil {
			t.Fatal(err)
		}
		if got := offsets(t, d, "next.decisions"); len(got) != 3 || got[0] != 5 {
			t.Errorf("decisions of the events %v, want 5 to 7", got)
		}
		if len(f.last) != 1 || f.last[0].Index != 5 || f.last[0].Step != 5 { // partition 1 has no decisions
			t.Errorf("plans after %+v, want one after decision 5", f.last)
		}
		if notes := strings.Join(f.notes, "\n"); !strings.Contains(notes, "goes on after late: from its decision of step 5, at offset 5") {
			t.Errorf("notes: %s", notes)
		}
		send(t, d, before, 0, 2)
		a := d.Start("old", simtest.NewDisk(), before.Run)
		time.Sleep(20 * time.Second)
		if err := a.Stop(); err == nil || !strings.Contains(err.Error(), `this deployment is over: the deployment "next" goes on after it`) {
			t.Errorf("the deployment before: %v", err)
		}
		if got := offsets(t, d, "late.decisions"); len(got) != 5 {
			t.Errorf("the deployment before has decided of %v", got)
		}
	})
}

// TestAPredecessorThatLostSomething removes parts of the predecessor, and checks its successor's action and error.
func TestAPredecessorThatLostSomething(t *testing.T) {
	for _, c := range []struct {
		name  string
		loses func(t *testing.T, d *simtest.Deployment, f *following)
		says  string // text of the expected error; "": the deployment continues
		from  float64
	}{
		{"nothing", func(*testing.T, *simtest.Deployment, *following) {}, "", 5},
		{"the changelog", func(t *testing.T, d *simtest.Deployment, f *following) {
			f.Config.Predecessor.Changelog = "late.gone"
		}, "", 5},
		{"the topic of decisions", func(t *testing.T, d *simtest.Deployment, f *following) {
			f.Config.Predecessor.Decisions = "late.gone"
		}, `the decision topic "late.gone" of "late" does not exist`, 0},
		{"the group", func(t *testing.T, d *simtest.Deployment, f *following) {
			f.Config.Predecessor.Group = "gone"
		}, `group "gone" of "late" has no committed offset`, 0},
		{"events behind its offset", func(t *testing.T, d *simtest.Deployment, f *following) {
			if err := group.AlterOffset(t.Context(), d.Client(), "late", "trips", 0, 99); err != nil {
				t.Fatal(err)
			}
		}, `group "late" stands at offset 99 of partition 0, and the input ends at 8`, 0},
		{"events before it", func(t *testing.T, d *simtest.Deployment, f *following) {
			if err := topics.DeleteRecords(t.Context(), d.Client(), "trips", 0, 7); err != nil {
				t.Fatal(err)
			}
		}, "", 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := simtest.New(t)
				before := old(t, d, 1, 5)
				send(t, d, before, 0, 3)
				f := follow()
				c.loses(t, d, f)
				err := f.begins(t, d)
				got := offsets(t, d, "next.decisions")
				if c.says != "" {
					if err == nil || !strings.Contains(err.Error(), c.says) || len(got) > 0 {
						t.Errorf("decisions of %v: %v; want %q", got, err, c.says)
					}
					return
				}
				if err != nil || len(got) == 0 || got[0] != c.from || len(f.last) != 1 {
					t.Errorf("decisions of %v, want from %v; plans after %+v: %v", got, c.from, f.last, err)
				}
			})
		})
	}
}

// TestAPartitionThatThePredecessorNeverHad checks that a partition that the predecessor never had starts afresh.
func TestAPartitionThatThePredecessorNeverHad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := simtest.New(t)
		before := old(t, d, 1, 5)
		if err := topics.AddPartitions(t.Context(), d.Client(), "trips", 2); err != nil {
			t.Fatal(err)
		}
		send(t, d, before, 1, 2)
		f := follow()
		if err := f.begins(t, d); err != nil {
			t.Fatal(err)
		}
		wantTaken(t, d, f.Setup, 1, 2)
		if len(f.last) != 1 { // only partition 0 has decisions
			t.Errorf("plans after %+v", f.last)
		}
	})
}

// TestOneStreamGoesOnAfterSeveral checks that one stream can succeed several. It starts from the decision of the chosen
// stream, at the offsets where the predecessor's streams ended. All of these streams must be ended.
func TestOneStreamGoesOnAfterSeveral(t *testing.T) {
	for _, c := range []struct {
		stream string
		says   string // text of the expected error; "": the deployment continues
		step   uint64 // step of the decision that it continues; 0: it starts afresh
	}{
		{"", `"late" has 2 streams, and this deployment has one`, 0},
		{"0", "", 5},
		{"1", "", 3},
		{deployment.NoStream, "", 0},
		{"2", `"late" has streams 0 to 1, and no stream 2`, 0},
	} {
		t.Run("stream="+c.stream, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := simtest.New(t)
				before := pipetest.NewSetup()
				if err := before.Prepare(t.Context(), d.Client(), 2); err != nil {
					t.Fatal(err)
				}
				a := d.Start("old", simtest.NewDisk(), before.Run)
				send(t, d, before, 0, 5)
				send(t, d, before, 1, 3)
				time.Sleep(3 * time.Second)
				if err := a.Stop(); err != nil {
					t.Fatal(err)
				}
				if err := topics.AddPartitions(t.Context(), d.Client(), "trips", 3); err != nil {
					t.Fatal(err)
				}
				f := follow()
				f.Config.Order, f.Config.Predecessor.Stream = "next.order", c.stream
				if err := f.begins(t, d); (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
					t.Fatalf("%v, want %q", err, c.says)
				}
				if c.says != "" {
					a := d.Start("old", simtest.NewDisk(), before.Run)
					time.Sleep(20 * time.Second)
					if err := a.Stop(); err != nil {
						t.Errorf("the deployment before does not come back, though none goes on after it: %v", err)
					}
					return
				}
				at, err := group.CommittedOffsets(t.Context(), d.Client(), "next", "trips", []int32{0, 1, 2})
				want := []group.Offset{{Partition: 0, Offset: 5}, {Partition: 1, Offset: 3}, {Partition: 2}}
				if err != nil || !slices.Equal(at, want) {
					t.Errorf("begins at %v, want %v: %v", at, want, err)
				}
				switch {
				case c.step == 0 && len(f.last) == 0:
				case c.step > 0 && len(f.last) == 1 && f.last[0].Step == c.step:
				default:
					t.Errorf("plans after %+v, want one after step %d", f.last, c.step)
				}
				send(t, d, before, 0, 1)
				send(t, d, before, 1, 1)
				over := make(chan int32, 9)
				before.Listener.Stopped = func(p int32, err error) {
					if strings.Contains(err.Error(), `this deployment is over: the deployment "next" goes on after it`) {
						over <- p
					}
				}
				b := d.Start("old", simtest.NewDisk(), before.Run)
				time.Sleep(time.Minute)
				if len(over) != 2 || <-over+<-over != 1 {
					t.Errorf("%d partitions of the deployment before have stopped, want partitions 0 and 1", len(over))
				}
				_ = b.Stop()
			})
		})
	}
}

// TestAPartitionDoesNotGoOnAfterAWholeTopic checks that a stream of one partition cannot succeed the stream of a whole
// topic, because the latter's decision depends on all partitions. Another stream of a whole topic can.
func TestAPartitionDoesNotGoOnAfterAWholeTopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := simtest.New(t)
		before := pipetest.NewSetup()
		before = before.WholeTopic()
		if err := before.Prepare(t.Context(), d.Client(), 2); err != nil {
			t.Fatal(err)
		}
		a := d.Start("old", simtest.NewDisk(), before.Run)
		send(t, d, before, 0, 3)
		send(t, d, before, 1, 2)
		time.Sleep(3 * time.Second)
		if err := a.Stop(); err != nil {
			t.Fatal(err)
		}
		f := follow()
		if err := f.begins(t, d); err == nil || !strings.Contains(err.Error(), `"late" is one stream of the whole input`) {
			t.Errorf("each partition goes on after a whole topic: %v", err)
		}
		whole := follow()
		c := &whole.Config
		c.Name, c.Group, c.Order = "whole", "whole", "whole.order"
		c.Decisions, c.Verdicts, c.Changelog, c.DeadLetter = "w.decisions", "w.verdicts", "w.changelog", "w.dead-letter"
		if err := whole.begins(t, d); err != nil || len(whole.last) != 1 || whole.last[0].Step != 5 {
			t.Errorf("plans after %+v, want one after step 5: %v", whole.last, err)
		}
		at, err := group.CommittedOffsets(t.Context(), d.Client(), "whole", "trips", []int32{0, 1})
		want := []group.Offset{{Partition: 0, Offset: 3}, {Partition: 1, Offset: 2}}
		if err != nil || !slices.Equal(at, want) {
			t.Errorf("begins at %v, want %v: %v", at, want, err)
		}
	})
}
