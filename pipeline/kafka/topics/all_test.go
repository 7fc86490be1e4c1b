package topics_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest/logtest"
)

// asked returns a counter of requests of a kind, from this call on.
func (e *ended) asked(key kmsg.Key) *int {
	count := new(int)
	e.cluster.ControlKey(int16(key), func(kmsg.Request) (kmsg.Response, error, bool) {
		e.cluster.KeepControl()
		*count++
		return nil, nil, false
	})
	return count
}

// TestPartitionsAskedTogetherGetTheSameAnswers checks that partitions asked together get the same answers as in
// separate requests, with only a few requests to each broker.
func TestPartitionsAskedTogetherGetTheSameAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnded(t)
		for p := range int32(6) { // gives some partitions later epochs
			for range p {
				e.move(p, 2)
				e.move(p, p%3)
			}
			e.append(p, 1)
		}
		if err := topics.DeleteRecords(t.Context(), e.client, "t", 3, 2); err != nil {
			t.Fatal(err)
		}
		partitions := []int32{5, 0, 3, 1, 2, 4}
		bounds, epochs := e.asked(kmsg.ListOffsets), e.asked(kmsg.OffsetForLeaderEpoch)
		all, err := topics.BoundsOfAll(t.Context(), e.client, e.topic(), partitions)
		if err != nil || *bounds != 3*3 {
			t.Fatalf("%d requests, want 3 to each of 3 brokers; %v", *bounds, err)
		}
		asked := []topics.Epoch{{5, 0}, {5, 3}, {0, 0}, {3, 1}, {5, 3}, {2, 99}}
		before, err := topics.EpochsBefore(t.Context(), e.client, e.topic(), asked)
		if err != nil || *epochs > 3+1 {
			t.Fatalf("%d requests, want one to each broker and another for the second epoch of a partition; %v", *epochs, err)
		}
		for i, p := range partitions {
			alone, err := topics.BoundsOf(t.Context(), e.client, "t", p)
			if err != nil || all[i] != alone {
				t.Errorf("partition %d: %+v together, %+v alone, %v", p, all[i], alone, err)
			}
		}
		for i, of := range asked {
			alone, wrong := topics.EpochEnd(t.Context(), e.client, "t", of.Partition, of.Epoch)
			together, err := before[i].EndOf(of.Epoch)
			if together != alone || errors.Is(err, kafka.ErrTruncated) != errors.Is(wrong, kafka.ErrTruncated) {
				t.Errorf("%+v: ends at %d, %v together; at %d, %v alone", of, together, err, alone, wrong)
			}
			reach, err := topics.Reach(t.Context(), e.client, "t", of.Partition, of.Epoch)
			if got := before[i].Reach(all[slices.Index(partitions, of.Partition)]); err != nil || got != reach {
				t.Errorf("%+v: reaches %d together; %d alone, %v", of, got, reach, err)
			}
		}
	})
}

// TestPartitionsAreAskedUntilTheyAnswer checks that only a partition with an error is asked again.
func TestPartitionsAreAskedUntilTheyAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnded(t)
		refused, again := false, 0
		e.cluster.ControlKey(int16(kmsg.ListOffsets), func(r kmsg.Request) (kmsg.Response, error, bool) {
			e.cluster.KeepControl()
			request := r.(*kmsg.ListOffsetsRequest)
			asked := request.Topics[0].Partitions
			if refused {
				again += len(asked)
			}
			if refused || asked[0].Partition != 1 {
				return nil, nil, false
			}
			refused = true
			response := request.ResponseKind().(*kmsg.ListOffsetsResponse)
			response.Topics = []kmsg.ListOffsetsResponseTopic{{Topic: "t", Partitions: []kmsg.ListOffsetsResponseTopicPartition{
				{Partition: 1, ErrorCode: 6, Offset: -1}, {Partition: 4, Offset: 0},
			}}}
			return response, nil, true
		})
		all, err := topics.BoundsOfAll(t.Context(), e.client, e.topic(), []int32{1, 4})
		if err != nil || all[0].High != 2 || all[1].High != 5 {
			t.Errorf("bounds %+v, %v", all, err)
		}
		if again != 2*2+3 { // the rest of the first round, and partition 1 again
			t.Errorf("%d partitions were asked for after the refusal, want 7", again)
		}
	})
}

// TestAnswersAreOfOneTopic recreates a topic between the lookup of its id and the answers. The new topic's bounds must
// be refused.
func TestAnswersAreOfOneTopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnded(t)
		was, again := e.topic(), false
		e.cluster.ControlKey(int16(kmsg.ListOffsets), func(kmsg.Request) (kmsg.Response, error, bool) {
			e.cluster.KeepControl()
			if again {
				return nil, nil, false
			}
			again = true
			e.cluster.SleepControl(func() {
				if err := logtest.Delete(t.Context(), e.client, "t"); err != nil {
					t.Error(err)
				}
				if err := topics.Create(t.Context(), e.client, "t", 6, 1, nil); err != nil {
					t.Error(err)
				}
				e.move(0, 0) // partition 0 has its leader and epoch again
			})
			return nil, nil, false
		})
		if all, err := topics.BoundsOfAll(t.Context(), e.client, was, []int32{0}); !errors.Is(err, kafka.ErrTopicRecreated) {
			t.Errorf("%+v, %v; want %v", all, err, kafka.ErrTopicRecreated)
		}
	})
}
