package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

const (
	// coordinatorPatience is the time for which a broker may be named as coordinator but deny it. A broker that becomes
	// coordinator first loads the coordinator's log. This takes seconds, during which it answers that it is loading.
	coordinatorPatience = time.Minute

	// coordinatorLook is the time between two lookups of a coordinator.
	coordinatorLook = 5 * time.Second
)

// CoordinatorError reports a coordinator that does not work: the cluster names a broker as the coordinator, but this
// broker denies it for longer than coordinatorPatience. Kafka 4.3 can get into this state when another broker dies: the
// coordinator finds its log "out of sync", and fails until its broker is restarted. The error is transient, because a
// restart ends it.
type CoordinatorError struct {
	Of     string        // the group id, or the transactional id
	Broker string        // id and address of the broker
	Since  time.Duration // how long the broker has denied being coordinator
	Cause  error
}

func (e *CoordinatorError) Error() string {
	return fmt.Sprintf("the coordinator of %s does not work: the cluster names %s, which has denied it for %v (%v): restart that broker",
		e.Of, e.Broker, e.Since.Round(time.Second), e.Cause)
}

// Unwrap returns the broker's answer.
func (e *CoordinatorError) Unwrap() error { return e.Cause }

// Coordinator identifies a coordinator by the group or the transactional id that it serves.
type Coordinator struct {
	kind kafkago.CoordinatorKeyType
	key  string
}

// CoordinatorOfGroup is the coordinator of a group.
func CoordinatorOfGroup(id string) Coordinator {
	return Coordinator{kafkago.CoordinatorKeyTypeConsumer, id}
}

// CoordinatorOfTransactions is the coordinator of a transactional id.
func CoordinatorOfTransactions(id string) Coordinator {
	return Coordinator{kafkago.CoordinatorKeyTypeTransaction, id}
}

func (c Coordinator) String() string {
	if c.kind == kafkago.CoordinatorKeyTypeTransaction {
		return fmt.Sprintf("the transactional id %q", c.key)
	}
	return fmt.Sprintf("group %q", c.key)
}

// RetryAt is Retry for requests to a coordinator. If the coordinator does not work, the error names the broker to
// restart.
func (c *Client) RetryAt(
	ctx context.Context, of Coordinator, operation string, attempt func(context.Context) error,
) error {
	var d denial
	return c.Retry(ctx, operation, func(ctx context.Context) error {
		err := attempt(ctx)
		if !errors.Is(err, kafkago.NotCoordinatorForGroup) {
			d = denial{}
			return err
		}
		d.check(ctx, c, of)
		if since := time.Since(d.since); d.broker != "" && since >= coordinatorPatience {
			return &CoordinatorError{Of: of.String(), Broker: d.broker, Since: since, Cause: err}
		}
		return err
	})
}

// denial records which broker is named as a coordinator while requests to it are denied.
type denial struct {
	broker  string // broker named as coordinator; "" while the cluster names none
	since   time.Time
	checked time.Time
}

// check looks the coordinator up. If another broker is named, or none, the record starts again.
func (d *denial) check(ctx context.Context, c *Client, of Coordinator) {
	if time.Since(d.checked) < coordinatorLook {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, coordinatorLook)
	defer cancel()
	named := ""
	found, err := c.kafka.FindCoordinator(ctx, &kafkago.FindCoordinatorRequest{Key: of.key, KeyType: of.kind})
	if err == nil && found.Error == nil && found.Coordinator != nil && found.Coordinator.NodeID >= 0 {
		at := found.Coordinator
		named = fmt.Sprintf("broker %d at %s", at.NodeID, net.JoinHostPort(at.Host, strconv.Itoa(at.Port)))
	}
	d.checked = time.Now()
	if named != d.broker || d.broker == "" {
		d.broker, d.since = named, d.checked
	}
}
