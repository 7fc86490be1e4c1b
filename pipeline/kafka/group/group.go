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

// codeGroupNotFound is how a broker may answer for a group that never committed; it means the same as offset -1.
const codeGroupNotFound = kafkago.GroupIdNotFound

// leaveTimeout bounds the goodbye. Without one the others wait for the session timeout, nothing worse.
const leaveTimeout = 5 * time.Second

// Config says which group to join, and for which topic.
type Config struct {
	ID    string // Required.
	Topic string // whose partitions are shared. Required.

	// Kept is a further topic that members subscribe to, so that the group's offsets there do not expire (KIP-211); none
	// of its partitions are shared. "": none
	Kept string

	// SessionTimeout is how long a member may be silent before its partitions go to others. 0: 6 s, the least that a
	// broker takes by default (group.min.session.timeout.ms).
	SessionTimeout time.Duration

	// RebalanceTimeout is how long the group waits for a member to close its tasks and rejoin. 0: the session timeout,
	// and 10 s at most. It is also how long a group waits for a leader that died before it had shared the partitions
	// out.
	RebalanceTimeout time.Duration

	// Instance names this process's place in the group (group.instance.id), the same at each start, and no other
	// process's. A process that was killed takes its place again as soon as it is back, instead of waiting for the
	// session of its dead self to end; nobody else is disturbed. "": a place of its own at each start.
	Instance string

	// Mark is what the members that share the topic have in common. A leader gives no partition to a member with
	// another mark, or none, as a consumer of something else has that was given this group by mistake; Describe
	// shows such.
	Mark string

	// OnFenced, if set, hears that another process has joined under Instance. This one goes on without.
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

// topics are those that a member subscribes to.
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
// partitions and is given its share again. The loop of its owner:
//
//	for {
//		generation, err := member.Next(ctx)     // 1. wait for a share
//		start(generation.Partitions)            // 2. tasks, each committing under generation.Membership()
//		<-generation.Done()                     // 3. the share is over
//		stop()                                  // 4. tasks closed, nothing more is sent
//		generation.Close()                      // 5. lets the member rejoin
//	}
type Member struct {
	client  *kafka.Client
	config  Config
	closing chan struct{}
	once    sync.Once

	turn     chan struct{} // holds one token while Next or Close works; the fields below belong to it
	instance string        // "" once another process has taken it
	member   string        // "" until the coordinator has given an id
	asked    bool          // a join was sent
	pulse    *heartbeats   // of the last generation that was joined
	current  *Generation
}

// Generation is a share of the topic's partitions, valid until Done.
type Generation struct {
	ID         int32
	Member     string
	Partitions []int32 // ascending; empty if there are more members than partitions

	group    string
	pulse    *heartbeats
	released chan struct{}
	once     sync.Once
}

// Join starts the membership; Next gives its generations. Nothing is sent before.
func Join(c *kafka.Client, config Config) (*Member, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	return &Member{
		client: c, config: config.withDefaults(), instance: config.Instance,
		closing: make(chan struct{}), turn: make(chan struct{}, 1),
	}, nil
}

// Next waits for the next generation, through every transient error. The one before must be closed, or Next waits for
// it. After ctx has ended the member is still in the group, and Next may be called again.
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

// join goes through join and sync, again at once if others came or went meanwhile: the coordinator makes each join
// wait.
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
		case kafkago.UnknownMemberId: // the session was over
			g.forget()
		case kafkago.FencedInstanceID: // two that take the place from each other in turns would both get nothing done
			g.forget()
			g.instance = ""
			g.config.OnFenced()
		default:
			return err
		}
	}
}

// forget ends the membership on this side.
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

// partitions counts the topic's partitions, 0 if there is no such topic. It takes less than a session, which no pulse
// keeps.
func (g *Member) partitions(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, g.config.SessionTimeout/2)
	defer cancel()
	cluster, err := topics.Describe(ctx, g.client, g.config.Topic)
	return cluster.Topics[g.config.Topic].Partitions, err
}

// unlessExpelled sends a request whose answer waits for other members. If the coordinator says meanwhile that it does
// not know this one, or that another has its place, the answer never comes, at some brokers, and the result is that
// code.
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

// Membership is what Producer.CommitOffset wants.
func (g *Generation) Membership() Membership {
	return Membership{Group: g.group, Generation: g.ID, Member: g.Member}
}

// Done is closed when the share is over: another member came or went, partitions were added, the coordinator was silent
// for a session, or Close.
func (g *Generation) Done() <-chan struct{} { return g.pulse.ended }

// Close lets the member rejoin. Nothing that belongs to the generation may run AFTER it.
func (g *Generation) Close() {
	g.once.Do(func() {
		g.pulse.end()
		close(g.released)
	})
}

// Close leaves the group, so that others take over at once, and closes the last generation. Tasks must have stopped
// BEFORE. It takes leaveTimeout at most, in whatever state the member or the broker is.
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
			return nil // it was expelled before
		}
		return err
	})
}

// assignment is one member's share.
type assignment struct {
	member     string
	partitions []int32 // ascending
}

// assign gives each subscriber of the topic a range of its partitions: consecutive ones, in the order of member ids,
// sizes differing by one at most. Members that do not want the topic, or have another mark, get none of it.
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
