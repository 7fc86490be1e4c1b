package probe

import (
	"context"
	"errors"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/pipeline/kafka"
)

// unknownID is a producer id and a generation that never exist. A broker checks the user's right first, and then
// refuses a request with such an id before anything changes.
const unknownID = -1

// MayJoin returns an error for a user who may not be a member of a group (READ). It sends a heartbeat of an unknown
// member. This has no effect, because a broker checks the right before it looks for the member.
func MayJoin(ctx context.Context, c *kafka.Client, group string) error {
	req := kmsg.NewHeartbeatRequest()
	req.Group, req.Generation, req.MemberID = group, unknownID, "nobody"
	res, err := ask[*kmsg.HeartbeatResponse](ctx, c, &req, heartbeatVersion)
	if err != nil {
		return err
	}
	return denied(res.ErrorCode, kafkago.GroupAuthorizationFailed, "READ", "group")
}

// MayWriteAs returns an error for a user who may not produce under a transactional id (WRITE). It asks to end a
// transaction of an unknown producer. This has no effect: a broker checks the right before it looks for the producer,
// and a coordinator ends a transaction only for its own producer.
func MayWriteAs(ctx context.Context, c *kafka.Client, transactionalID string) error {
	req := kmsg.NewEndTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Commit = transactionalID, unknownID, unknownID, false
	res, err := ask[*kmsg.EndTxnResponse](ctx, c, &req, endTxnVersion)
	if err != nil {
		return err
	}
	return denied(res.ErrorCode, kafkago.TransactionalIDAuthorizationFailed, "WRITE", "transactional id")
}

// denied returns an error if the answer has the code for a missing right.
func denied(answer int16, lacking kafka.Code, right, on string) error {
	if kafka.Code(answer) != lacking {
		return nil
	}
	return &kafka.DeniedError{Right: right, On: on, Cause: lacking}
}

// ErrNoClock reports a cluster that does not reveal its time, because it is older than Kafka 3.3 or the user lacks
// DESCRIBE on the cluster.
var ErrNoClock = errors.New("the cluster does not show its time")

// Clock returns the time of the cluster's controller, to the millisecond. The controller reports when each voter last
// caught up, and for the controller itself this is the current time (KIP-836).
func Clock(ctx context.Context, c *kafka.Client) (time.Time, error) {
	if c.CheckVersion(ctx, protocol.ApiKey(kmsg.DescribeQuorum), quorumVersion) != nil {
		return time.Time{}, ErrNoClock
	}
	req := kmsg.NewDescribeQuorumRequest()
	topic, partition := kmsg.NewDescribeQuorumRequestTopic(), kmsg.NewDescribeQuorumRequestTopicPartition()
	topic.Topic, topic.Partitions = "__cluster_metadata", append(topic.Partitions, partition)
	req.Topics = append(req.Topics, topic)
	res, err := ask[*kmsg.DescribeQuorumResponse](ctx, c, &req, quorumVersion)
	if err != nil {
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
