//go:build !kafka

package service_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/embedded"
	"oriel/pipeline/pipetest/brokertest"
)

// short answers a request for the end offsets of a topic with an end that is too low, as a stale leader does. A stale
// leader is a broker that was stopped: it has its old log and does not yet know its successor. short returns nil for
// every other request.
func short(request kmsg.Request, topic string) kmsg.Response {
	switch r := request.(type) {
	case *kmsg.ListOffsetsRequest:
		if r.Topics[0].Topic != topic || r.Topics[0].Partitions[0].Timestamp != -1 {
			return nil
		}
		p := kmsg.NewListOffsetsResponseTopicPartition()
		p.Offset = 2
		answer, _ := r.ResponseKind().(*kmsg.ListOffsetsResponse)
		answer.Topics = []kmsg.ListOffsetsResponseTopic{{
			Topic: topic, Partitions: []kmsg.ListOffsetsResponseTopicPartition{p},
		}}
		return answer
	case *kmsg.OffsetForLeaderEpochRequest:
		p := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
		p.LeaderEpoch, p.EndOffset = r.Topics[0].Partitions[0].LeaderEpoch-1, 2
		answer, _ := r.ResponseKind().(*kmsg.OffsetForLeaderEpochResponse)
		answer.Topics = []kmsg.OffsetForLeaderEpochResponseTopic{{
			Topic: topic, Partitions: []kmsg.OffsetForLeaderEpochResponseTopicPartition{p},
		}}
		return answer
	default:
		return nil
	}
}

// TestAStaleLeadersEndIsNotBelieved covers a take-over while brokers report, for some seconds, an end below the offsets
// that the state has consumed. The partition must wait, and continue once the brokers report the true end.
func TestAStaleLeadersEndIsNotBelieved(t *testing.T) {
	t.Parallel()
	const listOffsets, offsetForLeaderEpoch = 2, 23
	for name, c := range map[string]struct {
		kind   string
		key    int16
		stream string
	}{
		"input":                {"events", listOffsets, "partition"},
		"epochs of the input":  {"events", offsetForLeaderEpoch, "partition"},
		"changelog":            {"changelog", listOffsets, "partition"},
		"epochs, of one topic": {"events", offsetForLeaderEpoch, "topic"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broker := brokertest.Embedded(t, embedded.Options{})
			f := &fixture{servicetest.NewAt(t, broker.Addr(), 1, map[string]string{"ORIEL_STREAM": c.stream})}
			f.Must("topics")
			f.Send(0, servicetest.Events(0, 50)...)
			// gives the partition another leader epoch
			if err := broker.MoveLeader(f.Topic("events"), 0, 0); err != nil {
				t.Fatal(err)
			}
			f.Send(0, servicetest.Events(50, 1)...)
			p := f.Start(nil, "run")
			f.AwaitTaken(time.Minute, 51)
			p.Terminate()

			var stale atomic.Bool
			var answers atomic.Int32
			stale.Store(true)
			broker.Answer(c.key, func(request kmsg.Request) kmsg.Response {
				if !stale.Load() {
					return nil
				}
				answer := short(request, f.Topic(c.kind))
				if answer != nil {
					answers.Add(1)
				}
				return answer
			})
			p = f.Start(map[string]string{"TEST_DOUBT": "whole"}, "run")
			f.Await(20*time.Second, "three looks that found a loss", func() bool {
				return answers.Load() >= 3 && strings.Contains(p.Output(), "asks again before it stops")
			})
			stale.Store(false)
			f.AwaitTaken(20*time.Second, 51)
			f.Send(0, servicetest.Events(51, 9)...)
			f.AwaitTaken(20*time.Second, 60)
			p.Terminate()
			f.CheckHistory(0, 60)
		})
	}
}
