package embedded

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// compactEvery is the interval at which compacted topics are cleaned. A demo ends before the default of an hour.
const compactEvery = 3 * time.Second

// minSession is the default of Apache Kafka (group.min.session.timeout.ms).
const minSession = 6 * time.Second

// Options configure a broker: its data and its listeners.
type Options struct {
	// data directory, created if needed, reopened if used before. Required, except with Memory
	Dir     string
	Memory  bool // keep all data in memory, for tests that write little; Close loses the data
	Port    int  // port of the first broker on 127.0.0.1, of the second one above it, and so on. 0: any ports
	Brokers int  // number of brokers; 0: one

	// CompactEvery is the interval at which compacted topics are cleaned; 0 means 3 s. Apache Kafka does not clean the
	// newest segment; this broker cleans all but the last batch.
	CompactEvery time.Duration

	// MinSession is the shortest session timeout that a member of a group may ask for; 0 means 6 s, as in Apache Kafka.
	MinSession time.Duration

	// Now is the brokers' clock, from which records get LogAppendTime; nil means time.Now.
	Now func() time.Time

	// Listen opens the listeners; nil means net.Listen.
	Listen func(network, address string) (net.Listener, error)
}

// Broker is a running broker, or several as one cluster.
type Broker struct{ cluster cluster }

// cluster is what a Broker needs of *kfake.Cluster. It keeps kfake's own types out of Broker, because each package that
// imports Broker would compile the generic functions of those types again.
type cluster interface {
	ListenAddrs() []string
	Close()
	MoveTopicPartition(topic string, partition, node int32) error
	ControlKey(key int16, answer func(kmsg.Request) (kmsg.Response, error, bool))
	KeepControl()
}

// Start opens the data directory and listens.
func Start(o Options) (*Broker, error) {
	if (o.Dir == "") != o.Memory {
		return nil, errors.New("embedded: directory: none given, or one beside Memory")
	}
	if o.Listen == nil {
		o.Listen = net.Listen
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.CompactEvery == 0 {
		o.CompactEvery = compactEvery
	}
	if o.MinSession == 0 {
		o.MinSession = minSession
	}
	n := max(o.Brokers, 1)
	ports := make([]int, n)
	for i := range ports {
		if o.Port > 0 {
			ports[i] = o.Port + i
		}
	}
	c, err := kfake.NewCluster(
		kfake.NumBrokers(n),
		kfake.Ports(ports...),
		kfake.DataDir(o.Dir),
		kfake.ListenFn(lingering(o.Listen)),
		kfake.GroupMinSessionTimeout(o.MinSession),
		kfake.BrokerConfigs(map[string]string{
			"log.cleaner.backoff.ms": strconv.FormatInt(o.CompactEvery.Milliseconds(), 10),
		}),
	)
	if err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}
	stampProduced(c, o.Now)
	return &Broker{cluster: c}, nil
}

// Addr is the address to connect to, host:port, several separated by commas.
func (b *Broker) Addr() string { return strings.Join(b.cluster.ListenAddrs(), ",") }

// Close writes the remaining data to the data directory and stops.
func (b *Broker) Close() { b.cluster.Close() }

// Answer lets a function answer the requests with an API key, for tests. The broker answers the requests for which it
// returns nil.
func (b *Broker) Answer(key int16, answer func(kmsg.Request) kmsg.Response) {
	b.cluster.ControlKey(key, func(request kmsg.Request) (kmsg.Response, error, bool) {
		b.cluster.KeepControl()
		answered := answer(request)
		return answered, nil, answered != nil
	})
}

// MoveLeader gives a partition another leader, by broker number from 0, as a fail-over does.
func (b *Broker) MoveLeader(topic string, partition, broker int32) error {
	if err := b.cluster.MoveTopicPartition(topic, partition, broker); err != nil {
		return fmt.Errorf("embedded: move %s/%d: %w", topic, partition, err)
	}
	return nil
}
