package topics_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
)

// patience exceeds the answer time of an embedded broker on a busy machine; a successful test never waits so long.
const patience = 20 * time.Second

// ended is a cluster of three brokers, and a topic of six partitions whose ends are 1, 2, ….
type ended struct {
	*testing.T
	cluster *kfake.Cluster
	client  *kafka.Client
	ends    *topics.StableEnds
}

// newEnded must be called in a bubble of testing/synctest, whose clock jumps while a client waits for a new leader.
func newEnded(t *testing.T) *ended {
	t.Helper()
	cluster, c := simtest.Cluster(t, kfake.NumBrokers(3), kfake.SeedTopics(6, "t"))
	e := &ended{T: t, cluster: cluster, client: c}
	for p := range int32(6) {
		e.move(p, p%3)
		e.append(p, int(p)+1)
	}
	e.ends = topics.NewStableEnds(c, e.topic())
	t.Cleanup(e.ends.Wait) // runs after the test's context has ended
	return e
}

func (e *ended) topic() topics.Topic {
	e.Helper()
	described, err := topics.Describe(e.Context(), e.client, "t")
	if err != nil {
		e.Fatal(err)
	}
	return described.Topics["t"]
}

func (e *ended) move(p, broker int32) {
	e.Helper()
	if err := e.cluster.MoveTopicPartition("t", p, broker); err != nil {
		e.Fatal(err)
	}
}

func (e *ended) append(p int32, n int) {
	e.Helper()
	var b records.Builder
	for range n {
		b.Append(nil, []byte("v"), nil, 0)
	}
	if _, err := produce.Append(e.Context(), e.client, "t", p, &b); err != nil {
		e.Fatal(err)
	}
}

// look calls Look until no partition is left out.
func (e *ended) look(partitions int) (ends []topics.End) {
	e.Helper()
	for range 100 {
		var err error
		if ends, err = e.ends.Look(e.Context(), patience); err == nil && len(ends) == partitions {
			return ends
		}
	}
	e.Fatalf("after 100 looks there are %d ends: %v", len(ends), ends)
	return nil
}

func (e *ended) want(ends []topics.End, want ...int64) {
	e.Helper()
	offsets := make([]int64, len(ends))
	for i, end := range ends {
		offsets[i] = end.Offset
		if i > 0 && end.Partition <= ends[i-1].Partition {
			e.Fatalf("ends do not ascend by partition: %v", ends)
		}
	}
	if !slices.Equal(offsets, want) {
		e.Fatalf("ends %v, want offsets %v", ends, want)
	}
}

// TestStableEndsAskEachLeaderOnce counts requests, and checks their epochs and isolation level.
func TestStableEndsAskEachLeaderOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnded(t)
		e.look(6) // this call only finds the leaders
		p, err := produce.New(t.Context(), e.client, "open", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Begin(t.Context(), []kafka.TopicPartition{{Topic: "t", Partition: 2}}); err != nil {
			t.Fatal(err)
		}
		var b records.Builder
		b.Append(nil, []byte("undecided"), nil, 0)
		if _, err := p.Produce(t.Context(), "t", 2, &b); err != nil {
			t.Fatal(err)
		}
		e.append(2, 1)
		var asked []int16
		e.cluster.Control(func(r kmsg.Request) (kmsg.Response, error, bool) {
			e.cluster.KeepControl()
			asked = append(asked, r.Key())
			return nil, nil, false
		})
		ends, err := e.ends.Look(t.Context(), patience)
		if err != nil {
			t.Fatal(err)
		}
		e.want(ends, 1, 2, 3, 4, 5, 6)
		count := map[int16]int{}
		for _, key := range asked {
			count[key]++
		}
		if count[2] != 3 || count[3] > 3+1 || count[3] < 3 {
			t.Errorf("requests by key: %v, want 3 for ends (2) and 3 behind them for ids (3)", count)
		}
		for _, end := range ends {
			if end.Epoch < 0 {
				t.Errorf("%+v has no epoch", end)
			}
		}
	})
}

func TestStableEndsFollowLeadersAndPartitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnded(t)
		before := e.look(6)
		for range 3 {
			for p := range int32(6) {
				e.move(p, (p+1)%3)
			}
			e.append(0, 1)
			e.look(6)
		}
		ends := e.look(6)
		e.want(ends, 4, 2, 3, 4, 5, 6)
		if ends[0].Epoch <= before[0].Epoch {
			t.Errorf("epoch %d after %d and three moves", ends[0].Epoch, before[0].Epoch)
		}
		if err := topics.AddPartitions(t.Context(), e.client, "t", 8); err != nil {
			t.Fatal(err)
		}
		e.append(7, 9)
		e.look(8) // this call finds the added partitions; the next one asks their leaders
		e.want(e.look(8), 4, 2, 3, 4, 5, 6, 0, 9)
	})
}

// TestStableEndsDoNotWaitForASlowBroker checks that a later call of Look returns a late answer.
func TestStableEndsDoNotWaitForASlowBroker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnded(t)
		e.look(6)
		slow, held := make(chan struct{}), make(chan struct{}, 1)
		e.cluster.ControlKey(2, func(r kmsg.Request) (kmsg.Response, error, bool) {
			e.cluster.KeepControl()
			if r.(*kmsg.ListOffsetsRequest).Topics[0].Partitions[0].Partition != 1 {
				return nil, nil, false
			}
			held <- struct{}{}
			e.cluster.SleepControl(func() { <-slow })
			return nil, nil, false
		})
		var ends []topics.End
		for range 3 {
			var err error
			if ends, err = e.ends.Look(t.Context(), 200*time.Millisecond); err != nil {
				t.Fatal(err)
			}
			e.want(ends, 1, 3, 4, 6)
		}
		if len(held) != 1 {
			t.Errorf("%d requests to the slow broker, want 1 and no other before its answer", len(held))
		}
		close(slow)
		<-held
		e.want(e.look(6), 1, 2, 3, 4, 5, 6)
	})
}

func TestStableEndsLeaveOutPartitionsWithoutALeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnded(t)
		e.look(6)
		e.cluster.ControlKey(2, func(r kmsg.Request) (kmsg.Response, error, bool) {
			e.cluster.KeepControl()
			request := r.(*kmsg.ListOffsetsRequest)
			if len(request.Topics[0].Partitions) == 0 || request.Topics[0].Partitions[0].Partition != 0 {
				return nil, nil, false
			}
			response := request.ResponseKind().(*kmsg.ListOffsetsResponse)
			response.Topics = []kmsg.ListOffsetsResponseTopic{{Topic: "t", Partitions: []kmsg.ListOffsetsResponseTopicPartition{
				{Partition: 0, ErrorCode: 5, Offset: -1}, {Partition: 3, Offset: 4},
			}}}
			return response, nil, true
		})
		ends, err := e.ends.Look(t.Context(), patience)
		if err != nil {
			t.Fatal(err)
		}
		e.want(ends, 2, 3, 4, 5, 6)
	})
}

func TestStartsFollowWhatIsDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnded(t)
		if err := topics.DeleteRecords(t.Context(), e.client, "t", 4, 3); err != nil {
			t.Fatal(err)
		}
		starts, err := topics.Starts(t.Context(), e.client, e.topic(), patience)
		if err != nil {
			t.Fatal(err)
		}
		e.want(starts, 0, 0, 0, 0, 3, 0)
	})
}

// TestStableEndsAreOfOneTopic checks that the ends of a recreated topic are refused.
func TestStableEndsAreOfOneTopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnded(t)
		e.look(6)
		if err := logtest.Delete(t.Context(), e.client, "t"); err != nil {
			t.Fatal(err)
		}
		if err := topics.Create(t.Context(), e.client, "t", 6, 1, nil); err != nil {
			t.Fatal(err)
		}
		e.append(0, 9)
		for end := time.Now().Add(time.Minute); time.Now().Before(end); {
			ends, err := e.ends.Look(t.Context(), patience)
			if len(ends) > 0 {
				t.Fatalf("ends of another topic: %v, %v", ends, err)
			}
			if errors.Is(err, kafka.ErrTopicRecreated) {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Error("a topic that was made again was not noticed")
	})
}
