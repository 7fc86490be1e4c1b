package kafka_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest/simtest"
)

// retries collects the errors after which a client retries.
type retries struct {
	mu     sync.Mutex
	began  time.Time
	denied *kafka.CoordinatorError // the first error of this kind
	at     time.Duration           // time of the first denial
	other  error                   // the last error of another kind
}

func (h *retries) retried(_ string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if denied, is := errors.AsType[*kafka.CoordinatorError](err); !is {
		h.other = err
	} else if h.denied == nil {
		h.denied, h.at = denied, time.Since(h.began)
	}
}

// TestDenyingCoordinatorIsNamed checks that the error names the broker to restart: after the death of a broker, a
// coordinator of Kafka 4.3 may fail for good.
func TestDenyingCoordinatorIsNamed(t *testing.T) {
	denies := simtest.Refused(kafkago.NotCoordinatorForGroup)
	for _, c := range []struct {
		name   string
		faults []simtest.Fault
		call   func(context.Context, *kafka.Client) error
		want   string // coordinator named in the error; "": the error blames no broker
	}{
		{"group", []simtest.Fault{{Kind: kind("JoinGroup"), Count: -1, Effect: denies}}, joinOnce, `group "g"`},
		{
			"offset",
			[]simtest.Fault{{Kind: kind("OffsetFetch"), Count: -1, Effect: denies}},
			func(ctx context.Context, c *kafka.Client) error {
				_, err := group.CommittedOffset(ctx, c, "g", "t", 0)
				return err
			}, `group "g"`,
		},
		{
			"take-over",
			[]simtest.Fault{{Kind: kind("InitProducerID"), Count: -1, Effect: denies}},
			func(ctx context.Context, c *kafka.Client) error {
				_, err := produce.New(ctx, c, "d/1/0", time.Minute)
				return err
			}, `the transactional id "d/1/0"`,
		},
		{"no coordinator", []simtest.Fault{
			{Kind: kind("JoinGroup"), Count: -1, Effect: denies},
			{Kind: kind("FindCoordinator"), Count: -1, Effect: simtest.Refused(kafkago.GroupCoordinatorNotAvailable)},
		}, joinOnce, ""},
		{"another trouble between", []simtest.Fault{
			{Kind: kind("JoinGroup"), Skip: 230, Effect: simtest.Refused(kafkago.GroupLoadInProgress)},
			{Kind: kind("JoinGroup"), Count: 430, Effect: denies}, // denials for some 80 s
		}, joinOnce, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := simtest.New(t)
				if err := topics.Create(t.Context(), d.Client(), "t", 1, 1, nil); err != nil {
					t.Fatal(err)
				}
				h := &retries{began: time.Now()}
				d.Fail(c.faults...)
				d.Start("a", simtest.NewDisk(), func(ctx context.Context, m *simtest.Member) error {
					config := kafka.Config{Brokers: []string{d.Addr()}, OnRetry: h.retried}
					m.Network(&config)
					client, err := kafka.New(config)
					if err != nil {
						return err
					}
					defer func() { _ = client.Close() }()
					return c.call(ctx, client)
				})
				time.Sleep(90 * time.Second)
				h.mu.Lock()
				denied, at, other := h.denied, h.at, h.other
				h.mu.Unlock()
				if !errors.Is(other, kafkago.NotCoordinatorForGroup) {
					t.Errorf("the broker did not deny it: %v", other)
				}
				if c.want == "" {
					if denied != nil {
						t.Errorf("a broker is blamed: %v", denied)
					}
					return
				}
				if denied == nil || at < time.Minute || at > 70*time.Second {
					t.Fatalf("after %v: %v", at, denied)
				}
				for _, text := range []string{c.want, " at " + d.Addr(), "restart that broker"} {
					if !strings.Contains(denied.Error(), text) {
						t.Errorf("%q does not say %q", denied, text)
					}
				}
				if kafka.Classify(denied) != kafka.Retry {
					t.Errorf("class %v", kafka.Classify(denied))
				}
			})
		})
	}
}

func kind(api string) simtest.Kind { return simtest.Kind{API: api, Partition: simtest.AnyPartition} }

func joinOnce(ctx context.Context, c *kafka.Client) error {
	g, err := group.Join(c, group.Config{ID: "g", Topic: "t"})
	if err != nil {
		return err
	}
	_, err = g.Next(ctx)
	return errors.Join(err, g.Close())
}
