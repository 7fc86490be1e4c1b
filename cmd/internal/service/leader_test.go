//go:build !kafka

package service_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/cmd/internal/servicetest"
)

// short answers a request for the end offsets of a topic with an end that is too low, as a stale leader does. A stale
// leader is a broker that was stopped: it has its old log and does not yet know its successor. short returns false for
// every other request.
func short(request kmsg.Request, topic string) (kmsg.Response, bool) {
	switch r := request.(type) {
	case *kmsg.ListOffsetsRequest:
		if r.Topics[0].Topic != topic || r.Topics[0].Partitions[0].Timestamp != -1 {
			return nil, false
		}
		p := kmsg.NewListOffsetsResponseTopicPartition()
		p.Offset = 2
		answer, _ := r.ResponseKind().(*kmsg.ListOffsetsResponse)
		answer.Topics = []kmsg.ListOffsetsResponseTopic{{
			Topic: topic, Partitions: []kmsg.ListOffsetsResponseTopicPartition{p},
		}}
		return answer, true
	case *kmsg.OffsetForLeaderEpochRequest:
		p := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
		p.LeaderEpoch, p.EndOffset = r.Topics[0].Partitions[0].LeaderEpoch-1, 2
		answer, _ := r.ResponseKind().(*kmsg.OffsetForLeaderEpochResponse)
		answer.Topics = []kmsg.OffsetForLeaderEpochResponseTopic{{
			Topic: topic, Partitions: []kmsg.OffsetForLeaderEpochResponseTopicPartition{p},
		}}
		return answer, true
	default:
		return nil, false
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
			cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(cluster.Close)
			f := &fixture{servicetest.NewAt(t, cluster.ListenAddrs()[0], 1, map[string]string{"ORIEL_STREAM": c.stream})}
			f.Must("topics")
			f.Send(0, servicetest.Events(0, 50)...)
			// gives the partition another leader epoch
			if err := cluster.MoveTopicPartition(f.Topic("events"), 0, 0); err != nil {
				t.Fatal(err)
			}
			f.Send(0, servicetest.Events(50, 1)...)
			p := f.Start(nil, "run")
			f.AwaitTaken(time.Minute, 51)
			p.Terminate()

			var stale atomic.Bool
			var answers atomic.Int32
			stale.Store(true)
			cluster.ControlKey(c.key, func(request kmsg.Request) (kmsg.Response, error, bool) {
				cluster.KeepControl()
				if !stale.Load() {
					return nil, nil, false
				}
				answer, ok := short(request, f.Topic(c.kind))
				if ok {
					answers.Add(1)
				}
				return answer, nil, ok
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
