package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"

	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/records"
)

const (
	// AttemptTimeout ends a request that gets no answer. It is above the broker's own produce timeout (package
	// produce), so that a slow acknowledgement gives an error code of the broker, not a lost connection.
	AttemptTimeout = 15 * time.Second

	// metadataTTL bounds how old the cached cluster layout may be. After a leader moves, Refresh replaces the layout
	// earlier.
	metadataTTL = 5 * time.Second

	// refreshPause is the shortest time between two calls of Refresh that have an effect, because many partitions may
	// lose their leader together.
	refreshPause = 250 * time.Millisecond
)

// DefaultClientID is the client id of a client without a configured name. All versions of Oriel share it.
const DefaultClientID = "oriel"

// Config configures the connection to a cluster.
type Config struct {
	Brokers  []string       // host:port, any of them. Required.
	TLS      *tls.Config    // nil: plain text
	SASL     sasl.Mechanism // nil: no authentication; see Login and Bearer
	ClientID string         // shown in the broker's logs. "" means DefaultClientID.

	// Dial opens connections; nil means TCP with a 3 s limit. Tests cut, delay and damage connections here.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// Jitter draws a duration from [0, n), at random if nil. It affects only the pauses between attempts. Tests fix it,
	// so that two runs have equal pauses.
	Jitter func(n time.Duration) time.Duration

	// Patience bounds the attempts of a client that no broker has ever answered; 0: no bound. After a first answer the
	// client waits for the end of every outage.
	Patience time.Duration

	// DoubtFor is the time for which repeated checks must find a loss before it counts (Doubt); 0 means 10 s. Only a
	// test whose brokers never answer from an old log may shorten it. It must exceed the time between two checks, 1 s.
	DoubtFor time.Duration

	// Budget bounds the memory of all Readers of this and of other clients together; nil does not bound it.
	Budget *memory.Budget

	// OnRetry, if set, is called with each transient error BEFORE its back-off. It must not block. It is not called for
	// normal events: members that join and leave, and a previous transaction that is being finished (error 51), unless
	// this takes long.
	OnRetry func(operation string, err error)
}

// Validate reports every problem at once.
func (c Config) Validate() error {
	var errs []error
	if len(c.Brokers) == 0 {
		errs = append(errs, errors.New("kafka: brokers: none given"))
	}
	for _, b := range c.Brokers {
		if host, port, err := net.SplitHostPort(b); err != nil || host == "" || port == "" {
			errs = append(errs, fmt.Errorf("kafka: brokers: %q is not host:port", b))
		}
	}
	return errors.Join(errs...)
}

// Client is a connection to a cluster, shared by one process. It is safe for concurrent use.
type Client struct {
	config    Config
	addr      net.Addr
	transport *kafkago.Transport
	kafka     *kafkago.Client
	ids       atomic.Int32 // last correlation id
	pool      memory.Pool
	leaders   leaders
	unpack    records.Unpacker
	reach     connectivity

	mu        sync.Mutex
	refreshed time.Time
}

// New returns a client, which connects on first use.
func New(config Config) (*Client, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	if config.ClientID == "" {
		config.ClientID = DefaultClientID
	}
	if config.Dial == nil {
		config.Dial = (&net.Dialer{Timeout: 3 * time.Second}).DialContext
	}
	if config.Jitter == nil {
		config.Jitter = rand.N[time.Duration]
	}
	if config.OnRetry == nil {
		config.OnRetry = func(string, error) {}
	}
	addr := kafkago.TCP(config.Brokers...)
	transport := &kafkago.Transport{
		Dial:        config.Dial,
		TLS:         config.TLS,
		ClientID:    config.ClientID,
		MetadataTTL: metadataTTL,
	}
	c := &Client{
		config:    config,
		addr:      addr,
		transport: transport,
		kafka:     &kafkago.Client{Addr: addr, Transport: transport},
		leaders:   leaders{doubt: Doubt{lasts: config.DoubtFor}},
	}
	if config.SASL != nil {
		transport.Dial, transport.TLS = c.dial, nil
	}
	return c, nil
}

// Close drops idle connections. Calls in progress finish.
func (c *Client) Close() error {
	c.transport.CloseIdleConnections()
	return nil
}

// Refresh makes the next request look up the cluster layout again, for a caller that doubts the answers of brokers.
// Because kafka-go's Transport has no call for this, Refresh replaces the connection pool by one that starts with a
// lookup. Requests in flight keep their connections.
func (c *Client) Refresh() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.refreshed) >= refreshPause {
		c.refreshed = time.Now()
		c.transport.CloseIdleConnections()
	}
}

// RoundTrip sends one request once.
func (c *Client) RoundTrip(ctx context.Context, timeout time.Duration, req protocol.Message) (protocol.Message, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return c.transport.RoundTrip(ctx, c.addr, req)
}

// Retry calls attempt until it succeeds, fails for good, or ctx ends; then it returns the last error. A client that no
// broker has ever answered gives up on errors that only other settings can resolve (RefusedError). attempt must be safe
// to repeat if it is unknown whether its last request was done.
func (c *Client) Retry(ctx context.Context, operation string, attempt func(context.Context) error) error {
	for pause := c.Pauses(); ; {
		err := attempt(ctx)
		if err == nil {
			c.reach.answer()
			return nil
		}
		if ended := ctx.Err(); ended != nil {
			return fmt.Errorf("kafka: %s: %w (last: %w)", operation, ended, err)
		}
		if !Transient(err) {
			return fmt.Errorf("kafka: %s: %w", operation, lacking(operation, err))
		}
		if refused := c.reach.judge(err, time.Now(), c.config.Patience); refused != nil {
			return fmt.Errorf("kafka: %s at %s: %w", operation, strings.Join(c.config.Brokers, ","), refused)
		}
		if !errors.Is(err, kafkago.ConcurrentTransactions) || pause.next == lastPause {
			c.config.OnRetry(operation, err)
		}
		if staleLayout(err) {
			c.Refresh()
		}
		if ended := pause.Wait(ctx); ended != nil {
			return fmt.Errorf("kafka: %s: %w (last: %w)", operation, ended, err)
		}
	}
}

// CheckVersion returns an error if a broker does not support a version of an API. Without this check the broker would
// only close the connection.
func (c *Client) CheckVersion(ctx context.Context, key protocol.ApiKey, version int) error {
	ctx, cancel := context.WithTimeout(ctx, AttemptTimeout)
	defer cancel()
	res, err := c.kafka.ApiVersions(ctx, &kafkago.ApiVersionsRequest{})
	if err != nil {
		return err
	}
	if res.Error != nil {
		return res.Error
	}
	for _, api := range res.ApiKeys {
		if api.ApiKey == int(key) && api.MinVersion <= version && version <= api.MaxVersion {
			return nil
		}
	}
	return fmt.Errorf("%w: the broker does not speak %s version %d", errVersion, key, version)
}

// Login returns the SASL mechanism with a name: plain (to be used only under TLS), scram-sha-256 or scram-sha-512.
func Login(mechanism, user, password string) (sasl.Mechanism, error) {
	switch mechanism {
	case "plain":
		return plain.Mechanism{Username: user, Password: password}, nil
	case "scram-sha-256":
		return scram.Mechanism(scram.SHA256, user, password)
	case "scram-sha-512":
		return scram.Mechanism(scram.SHA512, user, password)
	}
	return nil, fmt.Errorf("kafka: login %q: not plain, scram-sha-256 or scram-sha-512", mechanism)
}

// API returns kafka-go's client, for the requests that it supports, over this client's connections.
func (c *Client) API() *kafkago.Client { return c.kafka }

// OnRetry passes a transient error on to Config.OnRetry.
func (c *Client) OnRetry(operation string, err error) { c.config.OnRetry(operation, err) }

// Budget bounds Readers that have no budget of their own.
func (c *Client) Budget() *memory.Budget { return c.config.Budget }

// Buffers is the pool of buffers that all Readers of this client share.
func (c *Client) Buffers() *memory.Pool { return &c.pool }

// Unpacker decompresses for all Readers of this client.
func (c *Client) Unpacker() *records.Unpacker { return &c.unpack }
