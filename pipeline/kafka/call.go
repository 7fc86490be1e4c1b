package kafka

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/pipeline/kafka/wire"
)

// maxAnswer bounds an answer that is read into one buffer. Metadata of a topic with 100 000 partitions has some 5 MB.
const maxAnswer = 32 << 20

// Call is one request over a connection of kafka-go's pool, encoded by this package: protocol.RawExchanger gets the
// connection after routing, TLS and SASL. Once sent, a call belongs to the connection's goroutine until the round trip
// returns it. If ctx ends first, the caller must not touch the call again.
type Call struct {
	key      protocol.ApiKey
	version  int16
	flexible bool
	id       int32
	client   string
	body     []byte                                 // request after its header
	Tail     []byte                                 // sent after body; a large batch need not be copied
	Read     func(r io.Reader, remaining int) error // reads the answer after its header, at most remaining bytes
}

// NewCall returns a request with a given body. Complete, or a Read of the caller, reads its answer.
func (c *Client) NewCall(key protocol.ApiKey, version int16, flexible bool, body []byte) Call {
	return Call{key: key, version: version, flexible: flexible, id: c.ids.Add(1), client: c.config.ClientID, body: body}
}

// ApiKey makes Call a protocol.Message.
func (c *Call) ApiKey() protocol.ApiKey { return c.key }

// Required makes Call a protocol.RawExchanger.
func (c *Call) Required(map[protocol.ApiKey]int16) bool { return true }

// RawExchange writes the request and reads the answer. An error makes kafka-go drop the connection. After every error
// here it must, because the next answer would be read at a wrong position.
func (c *Call) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	head := make([]byte, 4, 4+16+len(c.client)+len(c.body))
	head = binary.BigEndian.AppendUint16(head, uint16(c.key))
	head = binary.BigEndian.AppendUint16(head, uint16(c.version))
	head = binary.BigEndian.AppendUint32(head, uint32(c.id))
	head = wire.AppendString(head, c.client)
	if c.flexible {
		head = append(head, 0) // an empty list of tagged fields
	}
	head = append(head, c.body...)
	binary.BigEndian.PutUint32(head, uint32(len(head)-4+len(c.Tail)))
	if _, err := rw.Write(head); err != nil {
		return nil, fmt.Errorf("kafka: send: %w", err)
	}
	if len(c.Tail) > 0 {
		if _, err := rw.Write(c.Tail); err != nil {
			return nil, fmt.Errorf("kafka: send: %w", err)
		}
	}
	var frame [8]byte
	if _, err := io.ReadFull(rw, frame[:]); err != nil {
		return nil, fmt.Errorf("kafka: receive: %w", err)
	}
	size := int64(int32(binary.BigEndian.Uint32(frame[:]))) - 4
	if id := int32(binary.BigEndian.Uint32(frame[4:])); size < 0 || id != c.id {
		return nil, fmt.Errorf("kafka: answer %d of %d bytes to request %d", id, size+4, c.id)
	}
	rest := &io.LimitedReader{R: rw, N: size}
	if err := c.Read(rest, int(size)); err != nil {
		return nil, err
	}
	if _, err := io.Copy(io.Discard, rest); err != nil {
		return nil, fmt.Errorf("kafka: receive: %w", err)
	}
	return c, nil
}

// Complete makes the call read its answer into one buffer and pass the answer's body to parse.
func (c *Call) Complete(parse func(*wire.Reader)) {
	c.Read = func(r io.Reader, remaining int) error {
		if remaining > maxAnswer {
			return fmt.Errorf("kafka: answer of %d bytes to %s, limit %d", remaining, c.key, maxAnswer)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			return fmt.Errorf("kafka: receive: %w", err)
		}
		if len(b) != remaining {
			return wire.ErrShort
		}
		w := &wire.Reader{B: b}
		if c.flexible {
			w.Tags()
		}
		parse(w)
		return w.Err
	}
}

// Into makes the call read its answer into one buffer, and decode it. A false length makes kmsg allocate at most a
// constant number of times the bytes of the answer.
func (c *Call) Into(answer kmsg.Response) {
	c.Complete(func(r *wire.Reader) {
		if err := answer.ReadFrom(r.B); err != nil && r.Err == nil {
			r.Err = fmt.Errorf("kafka: answer to %s: %w", c.key, err)
		}
	})
}

// encode returns a request at a version, and its answer, which is set when the call has returned.
func (c *Client) encode(req kmsg.Request, version int16) (Call, kmsg.Response) {
	req.SetVersion(version)
	call := c.NewCall(protocol.ApiKey(req.Key()), version, req.IsFlexible(), req.AppendTo(nil))
	answer := req.ResponseKind()
	call.Into(answer)
	return call, answer
}

// Ask sends a request once at a version, to a broker that can answer it, and returns the answer.
func Ask[R kmsg.Response](
	ctx context.Context, c *Client, timeout time.Duration, to Target, req kmsg.Request, version int16,
) (answer R, err error) {
	call, decoded := c.encode(req, version)
	if _, err := c.RoundTrip(ctx, timeout, to.route(call)); err != nil {
		return answer, err
	}
	return decoded.(R), nil
}

// Target selects the broker that gets a request: AnyBroker, a Node, the leader of a TopicPartition, or the coordinator
// of a GroupID.
type Target interface{ route(c Call) protocol.Message }

type (
	AnyBroker struct{}
	Node      int32 // number of a broker in the cluster
	GroupID   string
)

func (AnyBroker) route(c Call) protocol.Message        { return &c }
func (n Node) route(c Call) protocol.Message           { return &brokerCall{c, int32(n)} }
func (p TopicPartition) route(c Call) protocol.Message { return &LeaderCall{c, p.Topic, p.Partition} }
func (id GroupID) route(c Call) protocol.Message       { return &groupCall{c, string(id)} }

// LeaderCall is a Call to the leader of a partition.
type LeaderCall struct {
	Call
	Topic     string
	Partition int32
}

// Broker makes LeaderCall a protocol.BrokerMessage.
func (c *LeaderCall) Broker(cluster protocol.Cluster) (protocol.Broker, error) {
	if len(cluster.Brokers) == 0 {
		return protocol.Broker{}, kafkago.BrokerNotAvailable
	}
	partition, ok := cluster.Topics[c.Topic].Partitions[c.Partition]
	if !ok {
		return protocol.Broker{}, kafkago.UnknownTopicOrPartition
	}
	broker, ok := cluster.Brokers[partition.Leader]
	if !ok {
		return protocol.Broker{}, kafkago.LeaderNotAvailable
	}
	return broker, nil
}

// brokerCall is a Call to a broker, given by its number in the cluster.
type brokerCall struct {
	Call
	node int32
}

// Broker makes brokerCall a protocol.BrokerMessage.
func (c *brokerCall) Broker(cluster protocol.Cluster) (protocol.Broker, error) {
	broker, ok := cluster.Brokers[c.node]
	if !ok {
		return protocol.Broker{}, kafkago.BrokerNotAvailable
	}
	return broker, nil
}

// groupCall is a Call to the coordinator of a group.
type groupCall struct {
	Call
	id string
}

// Group makes groupCall a protocol.GroupMessage.
func (c *groupCall) Group() string { return c.id }
