//go:build soak

package soak

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/topics"
)

const (
	deploymentName = "soak"
	inputTopic     = "soak-events"
)

// separation is the ORIEL_USER_SEPARATION of the user-level configuration, in steps; check.py gets it as an argument.
const separation = 16

// These are settings of steps by the clock; check.py gets them as arguments. A user has some 7 records in a period.
const (
	stepDelay    = 3 * time.Second
	periodSteps  = 5
	periodEvents = 5
)

// deployment is the service under test.
type deployment struct {
	cluster *cluster
	binary  string
	dir     string
	env     []string // settings that all processes share, without the broker's address
	slots   []*slot

	// With ORIEL_STREAM=partition there are as many partitions as processes, so that each process has one while all are
	// healthy. With ORIEL_STREAM=topic there are more partitions: one process owns the stream, and the others stand by.
	oneStream bool // all partitions of the input form one stream
	inputs    int  // partitions of the input; a fault may add some
	streams   int  // partitions of the deployment's own topics

	step time.Duration // length of a step by the clock; 0: steps by count

	diskless error // why no process has a disk that a fault can fill
}

// copies returns the folder with older copies of the state directories.
func (d *deployment) copies() string { return filepath.Join(d.dir, "copies") }

// These are the topics of the deployment, under their default names.
const (
	decisions   = deploymentName + ".decisions"
	changelog   = deploymentName + ".changelog"
	statuses    = deploymentName + ".verdicts"
	deadLetters = deploymentName + ".dead-letter"
	orderLog    = deploymentName + ".order" // order log, with ORIEL_STREAM=topic
)

// leaderTopics returns the topics whose leaders the fault "stale leader" may freeze.
func (d *deployment) leaderTopics() []string {
	all := []string{inputTopic, decisions, changelog, statuses}
	if d.oneStream {
		all = append(all, orderLog)
	}
	return all
}

func (d *deployment) partitions(topic string) int {
	if topic == inputTopic {
		return d.inputs
	}
	return d.streams
}

// settings returns the settings of all processes. With event-level privacy, a step's event can be computed from the
// decisions, and the noise is far below the smallest difference between events.
func settings(o options) ([]string, error) {
	key := filepath.Join(o.dir, "master.key")
	if err := os.WriteFile(key, []byte(hex.EncodeToString(make([]byte, 32))), 0o600); err != nil {
		return nil, err
	}
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "ORIEL_NAME=" + deploymentName,
		"ORIEL_INPUT_TOPIC=" + inputTopic, "ORIEL_STREAM=" + o.stream,
		"ORIEL_MASTER_KEY_FILE=" + key, "ORIEL_MAX_RECORD_BYTES=20000",
	}
	if o.brokers == 1 {
		env = append(env, "ORIEL_ALLOW_SINGLE_REPLICA=true")
	}
	if o.step > 0 {
		return append(env, "ORIEL_START=latest", "ORIEL_OPERATOR=aggregate", "ORIEL_CELLS=cell=0:16:16",
			"ORIEL_VALUE=value=0:1009", "ORIEL_STATISTICS=count,sum", "ORIEL_MECHANISM=once-laplace", "ORIEL_EPSILON=1e8",
			"ORIEL_METRICS=operators", fmt.Sprint("ORIEL_STEP=", o.step), fmt.Sprint("ORIEL_STEP_DELAY=", stepDelay),
			"ORIEL_USER_ID=header:user", fmt.Sprint("ORIEL_USER_PERIOD=", periodSteps*o.step),
			fmt.Sprint("ORIEL_USER_EVENTS=", periodEvents)), nil
	}
	env = append(env, "ORIEL_START=earliest", "ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_WINDOW=1024",
		"ORIEL_DELTA=1e-6", "ORIEL_CLIP=1")
	if o.users {
		return append(env, "ORIEL_MECHANISM=tree-gaussian", "ORIEL_LOSS=logistic", "ORIEL_SET=l2-ball", "ORIEL_RADIUS=5",
			"ORIEL_DIMENSION=8", "ORIEL_STRONG_CONVEXITY=0.001", "ORIEL_EPSILON=1", "ORIEL_USER_ID=header:user",
			fmt.Sprint("ORIEL_USER_SEPARATION=", separation)), nil
	}
	return append(env, "ORIEL_MECHANISM=blt", "ORIEL_LOSS=linear", "ORIEL_SET=box", "ORIEL_RADIUS=1e9",
		"ORIEL_DIMENSION=4",
		"ORIEL_STRONG_CONVEXITY=1", "ORIEL_EPSILON=1e8"), nil
}

// place returns a slot for a process. The process connects to addresses, where its proxies will listen for it.
func (d *deployment) place(command string, addresses []string, ports *ports) (*slot, error) {
	title := fmt.Sprintf("%s%d", command, len(d.slots))
	s := &slot{dir: filepath.Join(d.dir, title), pages: ports.address(), letters: command == "letters"}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	env := append(append([]string{}, d.env...), "ORIEL_BROKERS="+strings.Join(addresses, ","),
		"ORIEL_STATE_DIR="+s.state(),
		"ORIEL_HTTP_ADDR="+s.pages)
	s.process = newProcess(title, filepath.Join(d.dir, title+".log"), env, d.binary, command)
	d.slots = append(d.slots, s)
	return s, nil
}

// command runs a command of the binary to its end, without proxies.
func (d *deployment) command(ctx context.Context, arguments ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute) // a partition that hangs makes this command hang, too
	defer cancel()
	cmd := exec.CommandContext(ctx, d.binary, arguments...)
	cmd.Env = append(append([]string{}, d.env...), "ORIEL_BROKERS="+d.direct())
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("oriel %s: %w: %s", strings.Join(arguments, " "), err, output)
	}
	return nil
}

// opened waits until every partition has committed its first state.
func (d *deployment) opened(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for p := 0; p < d.inputs; {
		offset, err := group.CommittedOffset(ctx, d.cluster.client, deploymentName, inputTopic, int32(p))
		if err == nil && offset >= 0 {
			p++
			continue
		}
		if err := kafka.Pause(ctx, 50*time.Millisecond); err != nil {
			return fmt.Errorf("partition %d was not opened within a minute; see %s", p, d.dir)
		}
	}
	return nil
}

// drained waits until a group has consumed all committed records of a topic.
func (d *deployment) drained(ctx context.Context, groupID, topic string) error {
	ctx, cancel := context.WithTimeout(ctx, drainLimit)
	defer cancel()
	for p := range int32(d.partitions(topic)) {
		for taken := int64(-1); ; {
			at, err := group.CommittedOffset(ctx, d.cluster.client, groupID, topic, p)
			if err == nil {
				taken = at
				var rest bool
				if rest, err = d.anyAfter(ctx, topic, p, max(taken, 0)); err == nil && !rest {
					break
				}
			}
			if kafka.Pause(ctx, 50*time.Millisecond) != nil {
				return fmt.Errorf("group %s hangs: not at the end of %s partition %d within %v, but at %d (%w)", groupID, topic, p, drainLimit, taken, err)
			}
		}
	}
	return nil
}

// anyAfter reports whether a partition of a topic has a committed record at or after an offset. Transaction markers do
// not count.
func (d *deployment) anyAfter(ctx context.Context, topic string, p int32, from int64) (bool, error) {
	end, err := topics.BoundsOf(ctx, d.cluster.client, topic, p)
	if err != nil {
		return false, err
	}
	return fetch.HasRecord(ctx, d.cluster.client, topics.Topic{Name: topic}, p, from, end.Stable, false)
}

func (d *deployment) checkpoint(p int) string {
	return filepath.Join(d.dir, fmt.Sprintf("checkpoint%d", p))
}

// save saves the state of every stream, as the start of a replay.
func (d *deployment) save(ctx context.Context) error {
	for p := range d.streams {
		if err := d.command(ctx, "replay", "--save", d.checkpoint(p), "--partition", fmt.Sprint(p)); err != nil {
			return err
		}
	}
	return nil
}

// replay recomputes every decision after the saved state.
func (d *deployment) replay(ctx context.Context, violation func(string, ...any)) {
	for p := range d.streams {
		if err := d.command(ctx, "replay", "--check", "--from", d.checkpoint(p), "--partition", fmt.Sprint(p)); err != nil {
			violation("%v", err)
		}
	}
}

// end stops all processes by SIGTERM.
func (d *deployment) end(violation func(string, ...any)) {
	var all sync.WaitGroup
	for _, s := range d.slots {
		all.Go(func() { s.terminate(violation) })
	}
	all.Wait()
}

// close ends everything, in any state.
func (d *deployment) close() {
	for _, s := range d.slots {
		s.kill()
		for _, p := range s.proxies {
			p.close()
		}
		_ = s.leaveDisk()
	}
}
