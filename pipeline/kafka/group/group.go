package group

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

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

// Member is a membership in a consumer group. When other members come or go, it joins again by itself, and its owner
// goes on working as long as its share stays the same. A share that changes must be given up whole, and its owner gets
// a new one. The owner runs this loop:
//
//	for {
//		generation, err := member.Next(ctx)     // 1. wait for a share
//		start(generation.Partitions)            // 2. tasks, each committing under generation.Membership()
//		<-generation.Done()                     // 3. the share has ended
//		stop()                                  // 4. tasks closed, nothing more is sent
//		generation.Close()                      // 5. lets the member take its new share
//	}
type Member struct {
	client  *kafka.Client
	config  Config
	closing chan struct{}
	once    sync.Once
	held    atomic.Pointer[Generation] // the last one that Next returned

	holder   chan struct{} // holds one token while a join or Close runs; the fields below belong to its holder
	instance string        // static id; "" after another process has taken it
	member   string        // "" before the coordinator assigns an id
	asked    bool          // a join request was sent
	pulse    *heartbeats   // heartbeats of the last generation joined
	share    claim         // share of the last generation joined, which the next join claims
	gaveUp   bool          // this share lacks partitions that the join claimed
	waiting  bool          // Next has not returned this share yet
}

// Join returns a member; Next returns its generations. It sends no request before the first Next.
func Join(c *kafka.Client, config Config) (*Member, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	return &Member{
		client: c, config: config.withDefaults(), instance: config.Instance, share: claim{generation: -1},
		closing: make(chan struct{}), holder: make(chan struct{}, 1),
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
	last := g.held.Load()
	if last != nil {
		select {
		case <-last.released:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	select {
	case g.holder <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-g.holder }()
	select {
	case <-g.closing:
		return nil, kafka.ErrGroupClosed
	default:
	}
	if !g.waiting || g.pulse.isLost() {
		err := g.client.RetryAt(ctx, kafka.CoordinatorOfGroup(g.config.ID), "join group "+g.config.ID, g.join)
		if err != nil {
			return nil, err
		}
	}
	return g.handOut(), nil
}

// join joins and syncs. A member that the coordinator has expelled joins as a new one, so its old share must have ended
// BEFORE.
func (g *Member) join(ctx context.Context) error {
	for {
		err := g.rejoin(ctx)
		if ended := ctx.Err(); ended != nil && err != nil {
			return ended
		}
		if !expelled(err) {
			return err
		}
		g.forget()
		if errors.Is(err, kafkago.FencedInstanceID) { // without the id, because two processes with one id expel each other
			g.instance = ""
			g.config.OnFenced()
		}
	}
}

// rejoin joins and syncs. If other members came or left in between, it repeats both without a pause, because the
// coordinator delays each join anyway.
func (g *Member) rejoin(ctx context.Context) error {
	for {
		err := g.attempt(ctx)
		var code kafka.Code
		if ctx.Err() != nil || !errors.As(err, &code) {
			return err
		}
		switch code {
		case kafkago.RebalanceInProgress, kafkago.IllegalGeneration, kafkago.MemberIDRequired:
		default:
			return err
		}
	}
}

// expelled reports whether a coordinator has ended the membership: the session is over, or another process has its
// static id.
func expelled(err error) bool {
	return errors.Is(err, kafkago.UnknownMemberId) || errors.Is(err, kafkago.FencedInstanceID)
}

// forget resets the member to one that has not joined.
func (g *Member) forget() {
	g.pulse.stop()
	g.pulse, g.member, g.share, g.waiting = nil, "", claim{generation: -1}, false
}

// attempt is one join and one sync.
func (g *Member) attempt(ctx context.Context) error {
	var joined *kmsg.JoinGroupResponse
	g.asked = true
	err := g.unlessExpelled(ctx, func(ctx context.Context) error {
		var err error
		joined, err = g.joinRequest(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if joined.MemberID != "" {
		g.member = joined.MemberID
	}
	if err := kafka.CodeError(joined.ErrorCode); err != nil {
		return err
	}
	g.pulse.stop()
	g.pulse = nil
	if held := g.held.Load(); held != nil { // BEFORE the sync: the coordinator refuses commits of earlier generations
		held.renew(Membership{Group: g.config.ID, Generation: joined.Generation, Member: g.member})
	}
	watched := -1
	var shares []assignment
	if joined.LeaderID == g.member {
		watched, err = g.partitions(ctx)
		if err != nil {
			return err
		}
		shares = assign(g.config.Topic, g.config.Mark, watched, subscribers(joined, g.config.Topic))
	}
	g.pulse = g.beat(joined.Generation, watched)
	var partitions []int32
	err = g.unlessExpelled(ctx, func(ctx context.Context) error {
		var err error
		partitions, err = g.syncRequest(ctx, joined.Generation, shares)
		return err
	})
	if err != nil {
		return err
	}
	g.gaveUp = slices.ContainsFunc(g.share.partitions, func(p int32) bool { return !slices.Contains(partitions, p) })
	g.share, g.waiting = claim{partitions: partitions, generation: joined.Generation}, true
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
	if cause := context.Cause(ctx); err != nil && expelled(cause) {
		return cause
	}
	return err
}

// Close leaves the group, so that other members take over at once, and closes the last generation. Tasks must have
// stopped BEFORE. It takes at most leaveTimeout, in every state of member and broker.
func (g *Member) Close() error {
	g.once.Do(func() { close(g.closing) })
	g.holder <- struct{}{}
	defer func() { <-g.holder }()
	if held := g.held.Load(); held != nil {
		held.Close()
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
		if expelled(err) || errors.Is(err, codeGroupNotFound) {
			return nil // the coordinator has expelled the member already
		}
		return err
	})
}
