package simtest

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	_ "oriel/mechanisms/mechtest/tiertest" // sets up the test process
	"oriel/pipeline/embedded"
	"oriel/pipeline/kafka"
)

// Deployment is a broker and the processes of a service in a testing/synctest bubble: pipes for connections, memory for
// disks, and a clock that advances when all goroutines wait. It records each request of its members, and makes requests
// fail as a test specifies.
type Deployment struct {
	t       testing.TB
	network network
	broker  *embedded.Broker
	began   time.Time

	seed     uint64 // seed of latencies; 0: fixed latencies
	mu       sync.Mutex
	members  []*Member
	rules    []*rule
	requests []*Request
	topics   topicNames
	effects  map[string]int
	alike    map[sending]*alike
	joined   map[string]time.Duration // by group: when a broker last answered joins
}

// Options change the broker; the zero value is one broker in memory.
type Options struct {
	Dir     string // data directory; "": in memory
	Brokers int    // number of brokers; 0: one

	CompactEvery time.Duration // as in embedded.Options

	// Seed draws the latencies of each request and its answer, which determine the order in which goroutines run. With
	// 0, all requests of a kind have the same latency.
	Seed uint64
}

// New starts an empty broker. It must be called in a bubble; the deployment ends in the test's clean-up.
func New(t testing.TB) *Deployment {
	t.Helper()
	return NewWith(t, Options{})
}

// NewIn starts a broker on a data directory. Copies of the same directory have the same topics, ids, secrets and
// states, so that runs on copies can be compared byte for byte.
func NewIn(t testing.TB, dir string) *Deployment {
	t.Helper()
	return NewWith(t, Options{Dir: dir})
}

// NewWith starts a broker with options; otherwise it is like New.
func NewWith(t testing.TB, o Options) *Deployment {
	t.Helper()
	d := &Deployment{
		t: t, began: time.Now(), topics: topicNames{}, seed: o.Seed, effects: map[string]int{},
		alike: map[sending]*alike{}, joined: map[string]time.Duration{},
	}
	var err error
	if d.broker, err = embedded.Start(embedded.Options{
		Dir: o.Dir, Memory: o.Dir == "", Brokers: o.Brokers, CompactEvery: o.CompactEvery, Listen: d.network.Listen,
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.close)
	return d
}

// settled is longer than any sleep that may still be in progress when a deployment has closed. The bubble's clock stops
// when the test's own goroutine ends, so a goroutine that still slept would never end.
const settled = 2 * time.Minute

// close ends every goroutine, because a bubble waits for all of its goroutines.
func (d *Deployment) close() {
	for _, m := range d.members {
		select {
		case <-m.Done():
		default:
			m.Kill()
		}
	}
	d.broker.Close()
	time.Sleep(settled)
}

// Addr returns the address of the broker, or of the first of several.
func (d *Deployment) Addr() string {
	first, _, _ := strings.Cut(d.broker.Addr(), ",")
	return first
}

// MoveLeader gives a partition a new leader and its log a new epoch, as a fail-over does.
func (d *Deployment) MoveLeader(topic string, partition, broker int32) error {
	return d.broker.MoveLeader(topic, partition, broker)
}

// Client returns the test's own client: its requests take no time, are not recorded and do not fail.
func (d *Deployment) Client() *kafka.Client {
	d.t.Helper()
	c, err := kafka.New(kafka.Config{
		Brokers: []string{d.Addr()}, ClientID: "oriel-test", Dial: d.Dial,
		Jitter: func(n time.Duration) time.Duration { return n / 2 },
	})
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		if err := c.Close(); err != nil {
			d.t.Error(err)
		}
	})
	return c
}

// Lent returns the client of a member that exists only to give its network to the test: its requests take time, are
// recorded and may fail.
func (d *Deployment) Lent(name string) *kafka.Client {
	d.t.Helper()
	m := d.Start(name, NewDisk(), func(ctx context.Context, _ *Member) error {
		<-ctx.Done()
		return nil
	})
	config := kafka.Config{Brokers: []string{d.Addr()}}
	m.Network(&config)
	c, err := kafka.New(config)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = c.Close() })
	return c
}

// Dial connects the test to a listener of the deployment.
func (d *Deployment) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	return d.network.Dial(ctx, "", address)
}

// Fail makes requests fail from now on, as the faults describe.
func (d *Deployment) Fail(faults ...Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range faults {
		d.rules = append(d.rules, &rule{Fault: f})
	}
}

// Unfail ends all faults that equal f.
func (d *Deployment) Unfail(f Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rules = slices.DeleteFunc(d.rules, func(r *rule) bool { return r.Fault == f && !r.Life })
}

// Mend ends every fault.
func (d *Deployment) Mend() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rules = nil
}

// Requests returns the finished requests, in an order that is the same for two runs with equal input.
func (d *Deployment) Requests() []Request {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []Request
	for _, r := range d.requests {
		if r.Outcome != "" {
			all = append(all, *r)
		}
	}
	slices.SortStableFunc(all, order)
	return all
}

// sent records a request, and returns its latency.
func (d *Deployment) sent(m *Member, request kmsg.Request, bytes int) (*Request, time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	entry := &Request{At: time.Since(d.began), Member: m.Name, API: kmsg.NameForKey(request.Key()), Bytes: bytes}
	entry.Topic, entry.Partition = d.topics.place(request)
	d.requests = append(d.requests, entry)
	now := sending{m, entry.At, entry.Kind()}
	if d.alike[now] == nil {
		d.alike[now] = new(alike)
	}
	d.alike[now].count++
	way := latency(m, request, entry.Partition)
	if d.seed != 0 {
		way = drawnLatency(d.seed, m, *entry)
	}
	return entry, way
}

func (d *Deployment) ended(entry *Request, outcome string, answer int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	entry.Took, entry.Outcome, entry.Answer = time.Since(d.began)-entry.At, outcome, answer
}

func (d *Deployment) learn(request kmsg.Request, answer kmsg.Response) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.topics.learn(answer)
	if join, ok := request.(*kmsg.JoinGroupRequest); ok && firstCode(answer) == 0 {
		d.joined[join.Group] = time.Since(d.began)
	}
}
