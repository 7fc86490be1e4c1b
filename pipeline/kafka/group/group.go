package group

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/topics"
)

// codeGroupNotFound is the answer of some brokers for a group that never committed; others answer offset -1.
const codeGroupNotFound = kafkago.GroupIdNotFound

// leaveTimeout bounds the request to leave the group. If it fails, the other members wait for the session timeout.
const leaveTimeout = 5 * time.Second

// Config names the group to join and the topic to share.
type Config struct {
	ID    string // group id. Required.
	Topic string // topic whose partitions the members share. Required.

	// Kept is another topic that members subscribe to, so that the group's offsets for it do not expire (KIP-211). Its
	// partitions are not assigned. "": none
	Kept string

	// SessionTimeout is how long a member may be silent before its partitions go to others. 0: 6 s, the smallest that a
	// broker accepts by default (group.min.session.timeout.ms).
	SessionTimeout time.Duration

	// RebalanceTimeout is how long the group waits for a member to close its tasks and rejoin. 0: the session timeout,
	// at most 10 s. It is also how long a group waits for a leader that died before it assigned the partitions.
	RebalanceTimeout time.Duration

	// Instance is the static id of this process in the group (group.instance.id). It must be unique, and the same at
	// each start. A killed process gets its partitions back as soon as it restarts: it does not wait for its old
	// session to end, and other members keep theirs. "": a new member at each start.
	Instance string

	// Mark is common to the members that share the topic. A leader gives no partition to a member with another mark or
	// none, for example a foreign consumer that was given this group by mistake. Describe lists such members.
	Mark string

	// OnFenced, if set, is called when another process has joined under Instance. This member continues without
	// Instance.
	OnFenced func()
}

func (c Config) withDefaults() Config {
	if c.SessionTimeout == 0 {
		c.SessionTimeout = 6 * time.Second
	}
	if c.RebalanceTimeout == 0 {
		c.RebalanceTimeout = min(c.SessionTimeout, 10*time.Second)
	}
	if c.OnFenced == nil {
		c.OnFenced = func() {}
	}
	return c
}

// topics are the topics that a member subscribes to.
func (c Config) topics() []string {
	if c.Kept == "" {
		return []string{c.Topic}
	}
	return []string{c.Topic, c.Kept}
}

// Validate reports every problem at once.
func (c Config) Validate() error {
	var errs []error
	if c.ID == "" {
		errs = append(errs, errors.New("kafka: group id: none given"))
	}
	if c.Topic == "" {
		errs = append(errs, errors.New("kafka: group topic: none given"))
	}
	if c.SessionTimeout < 0 || c.RebalanceTimeout < 0 {
		errs = append(errs, errors.New("kafka: group timeout: negative"))
	}
	return errors.Join(errs...)
}

// Member is a membership in a consumer group with eager rebalancing: at each change every member gives up all
// partitions and gets a new share. Its owner runs this loop:
//
//	for {
//		generation, err := member.Next(ctx)     // 1. wait for a share
//		start(generation.Partitions)            // 2. tasks, each committing under generation.Membership()
//		<-generation.Done()                     // 3. the share has ended
//		stop()                                  // 4. tasks closed, nothing more is sent
//		generation.Close()                      // 5. lets the member rejoin
//	}
type Member struct {
	client  *kafka.Client
	config  Config
	closing chan struct{}
	once    sync.Once

	turn     chan struct{} // holds one token while Next or Close runs; the fields below belong to its holder
	instance string        // static id; "" after another process has taken it
	member   string        // "" before the coordinator assigns an id
	asked    bool          // a join request was sent
	pulse    *heartbeats   // heartbeats of the last generation joined
	current  *Generation
}

// Generation is a share of the topic's partitions, valid until Done.
type Generation struct {
	ID         int32
	Member     string
	Partitions []int32 // ascending; empty if the group has more members than partitions

	group    string
	pulse    *heartbeats
	released chan struct{}
	once     sync.Once
}

// Join returns a member; Next returns its generations. It sends no request before the first Next.
func Join(c *kafka.Client, config Config) (*Member, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	return &Member{
		client: c, config: config.withDefaults(), instance: config.Instance,
		closing: make(chan struct{}), turn: make(chan struct{}, 1),
	}, nil
}

// Next waits for the next generation, across transient errors. It first waits until the previous generation is closed.
// After ctx has ended the member is still in the group, and Next may be called again.
func (g *Member) Next(ctx context.Context) (*Generation, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-ctx.Done():
		case <-g.closing:
			cancel(kafka.ErrGroupClosed)
		}
	}()
	generation, err := g.next(ctx)
	if err != nil && errors.Is(context.Cause(ctx), kafka.ErrGroupClosed) {
		return nil, kafka.ErrGroupClosed
	}
	return generation, err
}

func (g *Member) next(ctx context.Context) (*Generation, error) {
	select {
	case g.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-g.turn }()
	select {
	case <-g.closing:
		return nil, kafka.ErrGroupClosed
	default:
	}
	if g.current != nil {
		select {
		case <-g.current.released:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	err := g.client.RetryAt(ctx, kafka.CoordinatorOfGroup(g.config.ID), "join group "+g.config.ID, g.join)
	if err != nil {
		return nil, err
	}
	return g.current, nil
}

// join joins and syncs. If other members came or left in between, it repeats both without a pause, because the
// coordinator delays each join anyway.
func (g *Member) join(ctx context.Context) error {
	for {
		err := g.attempt(ctx)
		if ended := ctx.Err(); ended != nil && err != nil {
			return ended
		}
		var code kafka.Code
		if !errors.As(err, &code) {
			return err
		}
		switch code {
		case kafkago.RebalanceInProgress, kafkago.IllegalGeneration, kafkago.MemberIDRequired:
		case kafkago.UnknownMemberId: // the session has ended
			g.forget()
		case kafkago.FencedInstanceID: // without the id, because two processes with one id expel each other
			g.forget()
			g.instance = ""
			g.config.OnFenced()
		default:
			return err
		}
	}
}

// forget resets the member to one that has not joined.
func (g *Member) forget() {
	g.pulse.stop()
	g.pulse, g.member = nil, ""
}

// attempt is one join and one sync.
func (g *Member) attempt(ctx context.Context) error {
	var joined joinAnswer
	g.asked = true
	err := g.unlessExpelled(ctx, func(ctx context.Context) error {
		var err error
		joined, err = g.joinRequest(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if joined.member != "" {
		g.member = joined.member
	}
	if err := kafka.CodeError(joined.code); err != nil {
		return err
	}
	g.pulse.stop()
	g.pulse = nil
	watched := -1
	var shares []assignment
	if joined.leader == g.member {
		watched, err = g.partitions(ctx)
		if err != nil {
			return err
		}
		shares = assign(g.config.Topic, g.config.Mark, watched, joined.members)
	}
	g.pulse = g.beat(joined.generation, watched)
	var partitions []int32
	err = g.unlessExpelled(ctx, func(ctx context.Context) error {
		var err error
		partitions, err = g.syncRequest(ctx, joined.generation, shares)
		return err
	})
	if err != nil {
		return err
	}
	g.current = &Generation{
		ID: joined.generation, Member: g.member, Partitions: partitions,
		group: g.config.ID, pulse: g.pulse, released: make(chan struct{}),
	}
	return nil
}

// partitions returns the number of the topic's partitions, or 0 if the topic does not exist. It must take less than a
// session, because no heartbeats are sent during the lookup.
func (g *Member) partitions(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, g.config.SessionTimeout/2)
	defer cancel()
	cluster, err := topics.Describe(ctx, g.client, g.config.Topic)
	return cluster.Topics[g.config.Topic].Partitions, err
}

// unlessExpelled sends a request whose answer waits for other members. If the coordinator no longer knows this member,
// or another member has its static id, some brokers never answer the request. Then the result is the answer to a
// heartbeat.
func (g *Member) unlessExpelled(ctx context.Context, request func(context.Context) error) error {
	if g.pulse == nil {
		return request(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	pulse := g.pulse
	go func() {
		select {
		case <-pulse.expelled:
			cancel(pulse.verdict)
		case <-ctx.Done():
		}
	}()
	err := request(ctx)
	if cause := context.Cause(ctx); err != nil && (errors.Is(cause, kafkago.UnknownMemberId) ||
		errors.Is(cause, kafkago.FencedInstanceID)) {
		return cause
	}
	return err
}

// Membership returns the argument for Producer.CommitOffset.
func (g *Generation) Membership() Membership {
	return Membership{Group: g.group, Generation: g.ID, Member: g.Member}
}

// Done is closed when the share ends: another member came or left, partitions were added, the coordinator was silent
// for a session, or Close was called.
func (g *Generation) Done() <-chan struct{} { return g.pulse.ended }

// Close lets the member rejoin. Everything that belongs to the generation must have stopped BEFORE.
func (g *Generation) Close() {
	g.once.Do(func() {
		g.pulse.end()
		close(g.released)
	})
}

// Close leaves the group, so that other members take over at once, and closes the last generation. Tasks must have
// stopped BEFORE. It takes at most leaveTimeout, in every state of member and broker.
func (g *Member) Close() error {
	g.once.Do(func() { close(g.closing) })
	g.turn <- struct{}{}
	defer func() { <-g.turn }()
	if g.current != nil {
		g.current.Close()
	}
	member, instance := g.member, g.instance
	g.forget()
	if member == "" && (instance == "" || !g.asked) {
		return nil
	}
	g.asked = false
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	return g.client.Retry(ctx, "leave group "+g.config.ID, func(ctx context.Context) error {
		err := g.leaveRequest(ctx, member, instance)
		if errors.Is(err, kafkago.UnknownMemberId) || errors.Is(err, kafkago.FencedInstanceID) ||
			errors.Is(err, codeGroupNotFound) {
			return nil // the coordinator has expelled the member already
		}
		return err
	})
}

// assignment is one member's share.
type assignment struct {
	member     string
	partitions []int32 // ascending
}

// assign gives each subscriber of the topic a range of consecutive partitions, in the order of member ids. Sizes differ
// by at most one. Members that do not subscribe to the topic, or have another mark, get none.
func assign(topic, mark string, partitions int, members []subscriber) []assignment {
	wants := func(s subscriber) bool { return s.mark == mark && slices.Contains(s.topics, topic) }
	members = slices.Clone(members)
	slices.SortFunc(members, func(a, b subscriber) int { return cmp.Compare(a.member, b.member) })
	sharing := 0
	for _, m := range members {
		if wants(m) {
			sharing++
		}
	}
	given := make([]assignment, len(members))
	place := 0
	for i, m := range members {
		given[i].member = m.member
		if !wants(m) {
			continue
		}
		for p := place * partitions / sharing; p < (place+1)*partitions/sharing; p++ {
			given[i].partitions = append(given[i].partitions, int32(p))
		}
		place++
	}
	return given
}
