package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

const (
	// joinBackoff is the pause after a failed join. kafka-go's default of 5 s is what a first start would wait for nothing.
	joinBackoff = 200 * time.Millisecond

	// watchInterval is how soon partitions that are added to the topic are noticed.
	watchInterval = 5 * time.Second
)

// GroupConfig says which group to join, and for which topic.
type GroupConfig struct {
	ID    string // Required.
	Topic string // Required.

	// SessionTimeout is how long a member may be silent before its partitions go to others. 0: 6 s, the least that a broker
	// takes by default (group.min.session.timeout.ms).
	SessionTimeout time.Duration

	// RebalanceTimeout is how long the group waits for a member to close its tasks and rejoin. 0: 10 s.
	RebalanceTimeout time.Duration
}

func (c GroupConfig) withDefaults() GroupConfig {
	if c.SessionTimeout == 0 {
		c.SessionTimeout = 6 * time.Second
	}
	if c.RebalanceTimeout == 0 {
		c.RebalanceTimeout = 10 * time.Second
	}
	return c
}

// Group is a membership in a consumer group with eager rebalancing: at each change every member gives up all partitions and
// is given its share again. The loop of its owner:
//
//	for {
//		generation, err := group.Next(ctx)      // 1. wait for a share
//		start(generation.Partitions)            // 2. tasks, each committing under generation.Membership()
//		<-generation.Done()                     // 3. the share is over
//		stop()                                  // 4. tasks closed, nothing more is sent
//		generation.Close()                      // 5. lets the member rejoin
//	}
type Group struct {
	client *Client
	config GroupConfig
	group  *kafkago.ConsumerGroup

	mu      sync.Mutex
	current *Generation
}

// Generation is a share of the topic's partitions, valid until Done.
type Generation struct {
	ID         int32
	Member     string
	Partitions []int32 // ascending; empty if there are more members than partitions

	group    string
	done     <-chan struct{}
	released chan struct{}
	once     sync.Once
}

// Join starts the membership; Next gives its generations.
func (c *Client) Join(config GroupConfig) (*Group, error) {
	config = config.withDefaults()
	group, err := kafkago.NewConsumerGroup(kafkago.ConsumerGroupConfig{
		ID:      config.ID,
		Brokers: c.config.Brokers,
		Topics:  []string{config.Topic},
		Dialer: &kafkago.Dialer{
			ClientID:      c.config.ClientID,
			DialFunc:      c.config.Dial,
			Timeout:       5 * time.Second,
			TLS:           c.config.TLS,
			SASLMechanism: c.config.SASL,
		},
		GroupBalancers:         []kafkago.GroupBalancer{kafkago.RangeGroupBalancer{}},
		HeartbeatInterval:      min(time.Second, config.SessionTimeout/4),
		SessionTimeout:         config.SessionTimeout,
		RebalanceTimeout:       config.RebalanceTimeout,
		JoinGroupBackoff:       joinBackoff,
		WatchPartitionChanges:  true,
		PartitionWatchInterval: watchInterval,
	})
	if err != nil {
		return nil, fmt.Errorf("kafka: join group: %w: %w", errUsage, err)
	}
	return &Group{client: c, config: config, group: group}, nil
}

// Next waits for the next generation, through every transient error. The one before must be closed, or Next waits for ever.
func (g *Group) Next(ctx context.Context) (*Generation, error) {
	var next *kafkago.Generation
	err := g.client.retry(ctx, "join group "+g.config.ID, func(ctx context.Context) error {
		var err error
		next, err = g.group.Next(ctx)
		var code Code
		switch {
		case errors.Is(err, kafkago.ErrGroupClosed):
			return ErrGroupClosed
		case errors.As(err, &code) && fenced(code):
			return fmt.Errorf("%s", code.Title()) // a member that joins again is told so in passing
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	generation := &Generation{ID: next.ID, Member: next.MemberID, group: g.config.ID, released: make(chan struct{})}
	for _, assigned := range next.Assignments[g.config.Topic] {
		generation.Partitions = append(generation.Partitions, int32(assigned.ID))
	}
	slices.Sort(generation.Partitions)
	done := make(chan struct{})
	generation.done = done
	// ConsumerGroup rejoins once all functions of a generation have returned.
	next.Start(func(ctx context.Context) {
		select {
		case <-ctx.Done():
		case <-generation.released:
		}
		close(done)
		<-generation.released
	})
	g.mu.Lock()
	g.current = generation
	g.mu.Unlock()
	return generation, nil
}

// Membership is what Producer.CommitOffset wants.
func (g *Generation) Membership() Membership {
	return Membership{Group: g.group, Generation: g.ID, Member: g.Member}
}

// Done is closed when the share is over: another member came or went, partitions were added, heartbeats failed, or Close.
func (g *Generation) Done() <-chan struct{} { return g.done }

// Close lets the member rejoin. Nothing that belongs to the generation may run AFTER it.
func (g *Generation) Close() { g.once.Do(func() { close(g.released) }) }

// Close leaves the group, so that others take over at once, and closes the last generation. Tasks must have stopped BEFORE.
func (g *Group) Close() error {
	g.mu.Lock()
	if g.current != nil {
		g.current.Close()
	}
	g.mu.Unlock()
	return g.group.Close()
}
