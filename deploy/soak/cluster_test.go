//go:build soak

package soak

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/topics"
)

// cluster is a Kafka cluster whose brokers are also its controllers.
type cluster struct {
	jars    string
	brokers []*broker
	client  *kafka.Client // connects to the brokers directly, not through proxies
}

// broker is a broker of the cluster. It has a listener for each process under test, which advertises the address of
// that process's proxy.
type broker struct {
	*process
	id    int
	dir   string
	addr  string            // address that is not behind a proxy
	inner map[string]string // address of the listener behind each proxy, by the proxy's address
}

const template = "../../.ci/kafka/server.properties"

// newCluster formats n brokers below dir. proxied[b][s] is the address of the proxy between broker b and process s.
func newCluster(ctx context.Context, jars, dir string, n int, proxied [][]string, ports *ports) (*cluster, error) {
	text, err := os.ReadFile(template)
	if err != nil {
		return nil, err
	}
	c := &cluster{jars: jars}
	var id [16]byte
	for i := range id {
		id[i] = byte(rand.Uint32()) // cluster ids must differ, so they must not be drawn from the seed
	}
	id[0] &= 0x7f // the id's text must not start with a dash, because the tool would take it for an option
	var voters, addresses []string
	controllers := make([]string, n)
	for i := range n {
		controllers[i] = ports.address()
		voters = append(voters, fmt.Sprintf("%d@%s", i+1, controllers[i]))
	}
	for i := range n {
		b := &broker{
			id: i + 1, dir: filepath.Join(dir, fmt.Sprintf("broker%d", i+1)), addr: ports.address(),
			inner: map[string]string{},
		}
		if err := os.MkdirAll(b.dir, 0o700); err != nil {
			return nil, err
		}
		config := b.properties(string(text), controllers[i], voters, proxied[i], ports)
		path := filepath.Join(b.dir, "server.properties")
		if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
			return nil, err
		}
		format := exec.CommandContext(ctx, "java", "-cp", jars+"/*", "kafka.tools.StorageTool", "format",
			"-t", base64.RawURLEncoding.EncodeToString(id[:]), "-c", path)
		if output, err := format.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("format broker %d: %w: %s", b.id, err, output)
		}
		b.process = newProcess(fmt.Sprintf("broker %d", b.id), filepath.Join(b.dir, "log"), os.Environ(), "java",
			"-Xms384m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", jars+"/*", "kafka.Kafka", path)
		c.brokers = append(c.brokers, b)
		addresses = append(addresses, b.addr)
	}
	c.client, err = kafka.New(kafka.Config{Brokers: addresses})
	return c, err
}

// properties fills in the configuration template of continuous integration, and appends the differences. If a name
// appears twice, the last one counts.
func (b *broker) properties(text, controller string, voters, proxied []string, ports *ports) string {
	more := []string{
		"node.id=" + strconv.Itoa(b.id), "controller.quorum.bootstrap.servers=",
		"controller.quorum.voters=" + strings.Join(voters, ","),
	}
	listeners, advertised := []string{
		"PLAINTEXT://" + b.addr,
		"CONTROLLER://" + controller,
	}, []string{"PLAINTEXT://" + b.addr}
	protocols := []string{"PLAINTEXT:PLAINTEXT", "CONTROLLER:PLAINTEXT"}
	for i, addr := range proxied {
		b.inner[addr] = ports.address()
		listeners = append(listeners, fmt.Sprintf("P%d://%s", i, b.inner[addr]))
		advertised = append(advertised, fmt.Sprintf("P%d://%s", i, addr))
		protocols = append(protocols, fmt.Sprintf("P%d:PLAINTEXT", i))
	}
	more = append(more, "listeners="+strings.Join(listeners, ","), "advertised.listeners="+strings.Join(advertised, ","),
		"listener.security.protocol.map="+strings.Join(protocols, ","))
	if n := len(voters); n > 1 {
		for _, topic := range []string{"offsets.topic", "transaction.state.log", "share.coordinator.state.topic"} {
			more = append(more, fmt.Sprintf("%s.replication.factor=%d", topic, n))
		}
		more = append(more, "transaction.state.log.min.isr=2", "share.coordinator.state.topic.min.isr=2",
			"min.insync.replicas=2",
			// The cluster must give up a broker as quickly as the consumer group gives up a process. Kafka's default is
			// 9 s.
			"broker.session.timeout.ms=6000")
	}
	text = strings.NewReplacer("@DIR@", b.dir, "@BROKER_PORT@", "0", "@CONTROLLER_PORT@", "0").Replace(text)
	return text + "\n" + strings.Join(more, "\n") + "\n"
}

// start starts all brokers and waits until they form a cluster. If a broker ends because another program holds its port
// for a moment, it is started again.
func (c *cluster) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		for _, b := range c.brokers {
			if err := b.start(); err != nil {
				return err
			}
		}
		attempt, end := context.WithTimeout(ctx, startLimit/8)
		err := c.complete(attempt)
		end()
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
}

// startLimit is ten times the time that three brokers take to start on two idle cores.
const startLimit = 2 * time.Minute

// complete waits until every broker is in the cluster.
func (c *cluster) complete(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		described, err := topics.Describe(ctx, c.client)
		if err == nil && described.Brokers == len(c.brokers) {
			return nil
		}
		if err := kafka.Pause(ctx, 100*time.Millisecond); err != nil {
			return fmt.Errorf("the cluster is not whole within %v; logs are in broker*/log: %w", startLimit, err)
		}
	}
}

// led names a partition of a topic as the brokers describe it.
type led struct {
	Partition, Leader int
	Replicas          []struct{}
	Isrs              []struct{ ID int }
}

// described returns the partitions of a topic as any broker describes them; topic "" stands for all topics. A broker
// except that is not nil is not asked.
func (c *cluster) described(ctx context.Context, topic string, except *broker) (all []led, err error) {
	var addresses []string
	for _, b := range c.brokers {
		if b != except {
			addresses = append(addresses, b.addr)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	arguments := []string{"-L", "-J", "-m", "4", "-b", strings.Join(addresses, ",")}
	if topic != "" {
		arguments = append(arguments, "-t", topic)
	}
	output, err := exec.CommandContext(ctx, "kcat", arguments...).Output()
	if err != nil {
		return nil, fmt.Errorf("kcat: %w", err)
	}
	var metadata struct {
		Topics []struct{ Partitions []led }
	}
	if err := json.Unmarshal(output, &metadata); err != nil {
		return nil, fmt.Errorf("kcat: %w", err)
	}
	for _, t := range metadata.Topics {
		all = append(all, t.Partitions...)
	}
	return all, nil
}

// leader returns the leader of a partition as any broker describes it. A broker except that is not nil is not asked.
func (c *cluster) leader(ctx context.Context, topic string, partition int, except *broker) (int, error) {
	all, err := c.described(ctx, topic, except)
	if err != nil {
		return -1, err
	}
	for _, p := range all {
		if p.Partition == partition {
			return p.Leader, nil
		}
	}
	return -1, errors.New("kcat: no such partition")
}

// isElsewhere reports whether the other brokers no longer depend on b: it leads no partition, and no leader waits for
// it to acknowledge a record.
func (c *cluster) isElsewhere(ctx context.Context, b *broker) bool {
	all, err := c.described(ctx, "", b)
	return err == nil && len(all) > 0 && !slices.ContainsFunc(all, func(p led) bool {
		return p.Leader < 1 || slices.Contains(p.Isrs, struct{ ID int }{b.id})
	})
}

// isInSync reports whether every replica is in sync. With one of three replicas in sync, no broker accepts a record.
func (c *cluster) isInSync(ctx context.Context) bool {
	all, err := c.described(ctx, "", nil)
	return err == nil && len(all) > 0 &&
		!slices.ContainsFunc(all, func(p led) bool { return p.Leader < 1 || len(p.Isrs) < len(p.Replicas) })
}

// stop ends all running brokers. It wakes frozen ones, because they would not receive the signal.
func (c *cluster) stop() {
	for _, b := range c.brokers {
		b.signal(syscall.SIGCONT)
		b.signal(syscall.SIGTERM)
	}
	for _, b := range c.brokers {
		if !b.ends(15 * time.Second) {
			b.kill()
		}
	}
	if c.client != nil {
		_ = c.client.Close()
	}
}
