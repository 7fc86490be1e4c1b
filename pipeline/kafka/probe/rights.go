package probe

import (
	"context"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/pipeline/kafka"
)

// nobody is the producer id of no producer and the member id of no member, so that a request in its name is refused
// after the user's right was checked and before anything changes.
const nobody = -1

// MayJoin refuses a user who may not be a member of a group (READ). It sends a heartbeat of nobody, because a broker
// checks the right before it looks for the member.
func MayJoin(ctx context.Context, c *kafka.Client, group string) error {
	req, res := kmsg.NewHeartbeatRequest(), kmsg.NewPtrHeartbeatResponse()
	req.Group, req.Generation, req.MemberID = group, nobody, "nobody"
	if err := ask(ctx, c, &req, res, heartbeatVersion); err != nil {
		return err
	}
	return denied(res.ErrorCode, kafkago.GroupAuthorizationFailed, "READ", "group")
}

// MayWriteAs refuses a user who may not produce under a transactional id (WRITE). It ends a transaction of nobody: a
// broker checks the right before it looks for the producer, and no coordinator ends a transaction for another producer.
func MayWriteAs(ctx context.Context, c *kafka.Client, transactionalID string) error {
	req, res := kmsg.NewEndTxnRequest(), kmsg.NewPtrEndTxnResponse()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Commit = transactionalID, nobody, nobody, false
	if err := ask(ctx, c, &req, res, endTxnVersion); err != nil {
		return err
	}
	return denied(res.ErrorCode, kafkago.TransactionalIDAuthorizationFailed, "WRITE", "transactional id")
}

// denied is nil for any answer but that the right is lacking.
func denied(answer int16, lacking kafka.Code, right, on string) error {
	if kafka.Code(answer) != lacking {
		return nil
	}
	return &kafka.DeniedError{Right: right, On: on, Cause: lacking}
}
