package probe

import (
	"context"
	"errors"
	"time"

	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/pipeline/kafka"
)

// ErrNoClock reports a cluster that does not reveal its time, because it is older than Kafka 3.3 or the user lacks
// DESCRIBE on the cluster.
var ErrNoClock = errors.New("the cluster does not show its time")

// Clock returns the time of the cluster's controller, to the millisecond. The controller reports when each voter last
// caught up, and for the controller itself this is the current time (KIP-836).
func Clock(ctx context.Context, c *kafka.Client) (time.Time, error) {
	if c.CheckVersion(ctx, protocol.ApiKey(kmsg.DescribeQuorum), quorumVersion) != nil {
		return time.Time{}, ErrNoClock
	}
	req, res := kmsg.NewDescribeQuorumRequest(), kmsg.NewPtrDescribeQuorumResponse()
	topic, partition := kmsg.NewDescribeQuorumRequestTopic(), kmsg.NewDescribeQuorumRequestTopicPartition()
	topic.Topic, topic.Partitions = "__cluster_metadata", append(topic.Partitions, partition)
	req.Topics = append(req.Topics, topic)
	if err := ask(ctx, c, &req, res, quorumVersion); err != nil {
		return time.Time{}, err
	}
	for _, topic := range res.Topics {
		for _, p := range topic.Partitions {
			for _, voter := range p.CurrentVoters {
				if voter.ReplicaID == p.LeaderID && voter.LastCaughtUpTimestamp > 0 {
					return time.UnixMilli(voter.LastCaughtUpTimestamp), nil
				}
			}
		}
	}
	return time.Time{}, ErrNoClock
}
