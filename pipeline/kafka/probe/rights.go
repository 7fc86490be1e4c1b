package probe

import (
	"context"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/pipeline/kafka"
)

// unknownID is a producer id and a generation that never exist. A broker checks the user's right first, and then
// refuses a request with such an id before anything changes.
const unknownID = -1

// MayJoin returns an error for a user who may not be a member of a group (READ). It sends a heartbeat of an unknown
// member. This has no effect, because a broker checks the right before it looks for the member.
func MayJoin(ctx context.Context, c *kafka.Client, group string) error {
	req, res := kmsg.NewHeartbeatRequest(), kmsg.NewPtrHeartbeatResponse()
	req.Group, req.Generation, req.MemberID = group, unknownID, "nobody"
	if err := ask(ctx, c, &req, res, heartbeatVersion); err != nil {
		return err
	}
	return denied(res.ErrorCode, kafkago.GroupAuthorizationFailed, "READ", "group")
}

// MayWriteAs returns an error for a user who may not produce under a transactional id (WRITE). It asks to end a
// transaction of an unknown producer. This has no effect: a broker checks the right before it looks for the producer,
// and a coordinator ends a transaction only for its own producer.
func MayWriteAs(ctx context.Context, c *kafka.Client, transactionalID string) error {
	req, res := kmsg.NewEndTxnRequest(), kmsg.NewPtrEndTxnResponse()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Commit = transactionalID, unknownID, unknownID, false
	if err := ask(ctx, c, &req, res, endTxnVersion); err != nil {
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
