package servicetest

import (
	"context"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/service"
	"oriel/cmd/internal/settings"
	"oriel/pipeline/pipetest/simtest"
	"oriel/pipeline/streams"
)

// Bubble is a deployment in a testing/synctest bubble. Its commands run inside the test: each is a member of a
// simulated deployment, with a disk in memory and a network of pipes.
type Bubble struct {
	Setup
	Broker *simtest.Deployment
	model  func(settings.Settings) (streams.Model, error)
}

// NewBubble returns a deployment on a simulated broker, which has no topics yet. more has further settings; if it names
// an operator, it has all of the operator's settings. model replaces the model that the settings describe; it may be
// nil.
func NewBubble(
	t *testing.T, on *simtest.Deployment, more map[string]string, model func(settings.Settings) (streams.Model, error),
) *Bubble {
	t.Helper()
	if model == nil {
		model = Host().Model
	}
	b := &Bubble{Setup: Setup{T: t, Client: on.Client(), Name: "late"}, Broker: on, model: model}
	key := filepath.Join(t.TempDir(), "master.key")
	WriteKey(t, key, 7)
	b.Env = deploymentOf(b.Name, on.Addr(), key, "state")
	if more["ORIEL_OPERATOR"] == "" {
		maps.Copy(b.Env, small)
	}
	maps.Copy(b.Env, more)
	return b
}

// Create creates the input and, with `oriel topics`, the other topics.
func (b *Bubble) Create(partitions int, input map[string]string) {
	b.T.Helper()
	b.CreateTopic(b.Env["ORIEL_INPUT_TOPIC"], partitions, input)
	b.Must("topics", func(ctx context.Context, h service.Host) error { return service.PrepareTopics(ctx, h, 0, nil) })
}

// Must runs a command to its end, and checks that it succeeds.
func (b *Bubble) Must(name string, command func(context.Context, service.Host) error) {
	b.T.Helper()
	if err := b.Start(name, simtest.NewDisk(), command).Wait(); err != nil {
		b.T.Fatal(err)
	}
}

// Command is a running command of a Bubble. It stands for a process of its own.
type Command struct {
	*simtest.Member
	Out  *Output
	Page atomic.Value // address of the command's pages, a string
	Code int          // exit code of the ended command
}

// Start starts a command on a disk.
func (b *Bubble) Start(name string, disk *vfs.MemFS, command func(context.Context, service.Host) error) *Command {
	c := &Command{Out: new(Output)}
	h := service.Host{Model: b.model}
	for _, k := range slices.Sorted(maps.Keys(b.Env)) {
		h.Environ = append(h.Environ, k+"="+b.Env[k])
	}
	c.Member = b.Broker.Start(name, disk, func(ctx context.Context, m *simtest.Member) error {
		h.Stderr, h.Client, h.Store.FS, h.Listener.Reached = m.Writer(c.Out), m.Network, disk, m.Reached
		h.Listen = func(network, address string) (net.Listener, error) {
			l, err := m.Listen(network, address)
			if err == nil {
				c.Page.Store(l.Addr().String())
			}
			return l, err
		}
		err := command(ctx, h)
		c.Code = exit.Report(h.Stderr, "oriel", err)
		return err
	})
	return c
}

// Ended reports whether the command has ended.
func (c *Command) Ended() bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}
