package kafka

import (
	"encoding/binary"
	"fmt"
	"io"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
)

// maxAnswer bounds an answer that is read as a whole. Metadata of a topic with 100 000 partitions has some 5 MB.
const maxAnswer = 32 << 20

// call is one request spoken over a connection of kafka-go's pool in this package's own bytes: protocol.RawExchanger
// gets the connection after routing, TLS and SASL. Once sent, a call belongs to the connection's goroutine until the
// round trip returns it; if ctx ends first, nothing of it may be touched again.
type call struct {
	key      protocol.ApiKey
	version  int16
	flexible bool
	id       int32
	client   string
	body     []byte                                 // after the request header
	tail     []byte                                 // follows body; spares copying a large batch
	read     func(r io.Reader, remaining int) error // takes the answer after its header, at most remaining bytes
}

func (c *Client) newCall(key protocol.ApiKey, version int16, flexible bool, body []byte) call {
	return call{key: key, version: version, flexible: flexible, id: c.ids.Add(1), client: c.config.ClientID, body: body}
}

// ApiKey makes call a protocol.Message.
func (c *call) ApiKey() protocol.ApiKey { return c.key }

// Required makes call a protocol.RawExchanger.
func (c *call) Required(map[protocol.ApiKey]int16) bool { return true }

// RawExchange writes the request and reads the answer. An error makes kafka-go drop the connection, which is right for
// every error here: what follows on it would be read at the wrong place.
func (c *call) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	head := make([]byte, 4, 4+16+len(c.client)+len(c.body))
	head = binary.BigEndian.AppendUint16(head, uint16(c.key))
	head = binary.BigEndian.AppendUint16(head, uint16(c.version))
	head = binary.BigEndian.AppendUint32(head, uint32(c.id))
	head = appendString(head, c.client)
	if c.flexible {
		head = append(head, 0) // no tagged fields
	}
	head = append(head, c.body...)
	binary.BigEndian.PutUint32(head, uint32(len(head)-4+len(c.tail)))
	if _, err := rw.Write(head); err != nil {
		return nil, fmt.Errorf("kafka: send: %w", err)
	}
	if len(c.tail) > 0 {
		if _, err := rw.Write(c.tail); err != nil {
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
	if err := c.read(rest, int(size)); err != nil {
		return nil, err
	}
	if _, err := io.Copy(io.Discard, rest); err != nil {
		return nil, fmt.Errorf("kafka: receive: %w", err)
	}
	return c, nil
}

// complete reads an answer of known small size in one piece and hands it to parse, after the header's tagged fields.
func (c *call) complete(parse func(*wireReader)) {
	c.read = func(r io.Reader, remaining int) error {
		if remaining > maxAnswer {
			return fmt.Errorf("kafka: answer of %d bytes to %s, limit %d", remaining, c.key, maxAnswer)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			return fmt.Errorf("kafka: receive: %w", err)
		}
		if len(b) != remaining {
			return errShort
		}
		w := &wireReader{b: b}
		if c.flexible {
			w.tags()
		}
		parse(w)
		return w.err
	}
}

// leaderCall goes to the leader of a partition.
type leaderCall struct {
	call
	topic     string
	partition int32
}

// Broker makes leaderCall a protocol.BrokerMessage.
func (c *leaderCall) Broker(cluster protocol.Cluster) (protocol.Broker, error) {
	if len(cluster.Brokers) == 0 {
		return protocol.Broker{}, kafkago.BrokerNotAvailable
	}
	partition, ok := cluster.Topics[c.topic].Partitions[c.partition]
	if !ok {
		return protocol.Broker{}, kafkago.UnknownTopicOrPartition
	}
	broker, ok := cluster.Brokers[partition.Leader]
	if !ok {
		return protocol.Broker{}, kafkago.LeaderNotAvailable
	}
	return broker, nil
}

// groupCall goes to the coordinator of a group.
type groupCall struct {
	call
	group string
}

// Group makes groupCall a protocol.GroupMessage.
func (c *groupCall) Group() string { return c.group }
