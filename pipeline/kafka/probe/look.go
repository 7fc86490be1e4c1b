package probe

import (
	"context"
	"net"
	"slices"
	"strconv"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/pipeline/kafka"
)

// Versions of requests. Every broker from Kafka 3.1 on supports them, except quorumVersion (3.3).
const (
	fetchVersion     = 13 // fetches by topic id, which the service needs
	metadataVersion  = 10 // the last version that reports rights on topics and on the cluster
	heartbeatVersion = 3
	endTxnVersion    = 3
	quorumVersion    = 1 // the first version that reports the controller's clock
)

// Serves returns an error for a broker that is too old for the service, or that cannot be reached, trusted or logged in
// to.
func Serves(ctx context.Context, c *kafka.Client) error {
	return c.CheckVersion(ctx, protocol.Fetch, fetchVersion)
}

// Broker is a broker, with the address that its cluster advertises to clients.
type Broker struct {
	Node    int32
	Address string // host:port of the broker's listener
}

// Cluster is a broker's description of its cluster.
type Cluster struct {
	ID      string
	Brokers []Broker // sorted by address
	Topics  map[string]Topic
}

// Topic holds the rights of the client's user on a topic.
type Topic struct {
	Exists bool  // also false if the user lacks DESCRIBE
	Hidden bool  // the user lacks DESCRIBE, so nothing is known about the topic
	known  bool  // the broker reported rights
	rights int32 // one bit for each operation, by its code
}

// Lacks reports whether the user lacks a right on the topic, by its name in ACLs, such as DESCRIBE_CONFIGS. It is false
// if the broker did not report rights.
func (t Topic) Lacks(right string) bool {
	operation, err := kmsg.ParseACLOperation(right)
	if err != nil {
		panic("BUG: probe: no right is called " + right)
	}
	return t.Hidden || t.known && t.rights&(1<<operation) == 0
}

// noRights is the value of AuthorizedOperations in an answer without rights.
const noRights = -1 << 31

// Look asks one broker for all brokers of its cluster, and for the user's rights on topics.
func Look(ctx context.Context, c *kafka.Client, topics ...string) (Cluster, error) {
	req := kmsg.NewMetadataRequest()
	req.AllowAutoTopicCreation, req.IncludeTopicAuthorizedOperations = false, true
	for _, name := range topics {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = &name
		req.Topics = append(req.Topics, t)
	}
	if req.Topics == nil {
		req.Topics = []kmsg.MetadataRequestTopic{} // nil would ask for every topic
	}
	res, err := ask[*kmsg.MetadataResponse](ctx, c, &req, metadataVersion)
	if err != nil {
		return Cluster{}, err
	}
	cluster := Cluster{Topics: map[string]Topic{}}
	if res.ClusterID != nil {
		cluster.ID = *res.ClusterID
	}
	for _, b := range res.Brokers {
		cluster.Brokers = append(cluster.Brokers, Broker{b.NodeID, net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))})
	}
	slices.SortFunc(cluster.Brokers, func(a, b Broker) int { return int(a.Node) - int(b.Node) })
	for _, t := range res.Topics {
		code := kafka.Code(t.ErrorCode)
		if t.Topic == nil || code == kafkago.UnknownTopicOrPartition {
			continue
		}
		cluster.Topics[*t.Topic] = Topic{
			Exists: code != kafkago.TopicAuthorizationFailed,
			Hidden: code == kafkago.TopicAuthorizationFailed,
			known:  t.AuthorizedOperations != noRights,
			rights: t.AuthorizedOperations,
		}
	}
	return cluster, nil
}

// ask sends a request to any broker.
func ask[R kmsg.Response](ctx context.Context, c *kafka.Client, req kmsg.Request, version int16) (R, error) {
	return kafka.Ask[R](ctx, c, kafka.AttemptTimeout, kafka.AnyBroker{}, req, version)
}
