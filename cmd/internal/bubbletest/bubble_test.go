package bubbletest

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"oriel/cmd/internal/decisiontest"
	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/service"
	"oriel/cmd/internal/servicetest"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms/protection"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
	"oriel/pipeline/streams"
)

// inprocess is a deployment whose commands run inside the test, in a synctest bubble.
type inprocess struct {
	*simtest.Deployment
	t      *testing.T
	client *kafka.Client
	env    map[string]string
	model  func(settings.Settings) (streams.Model, error)
}

// newInprocess creates the input and, with `oriel topics`, the other topics.
func newInprocess(
	t *testing.T, partitions int, more map[string]string, model func(settings.Settings) (streams.Model, error),
) *inprocess {
	t.Helper()
	d := onDeployment(t, simtest.New(t), more, model)
	d.create(partitions)
	return d
}

func onDeployment(
	t *testing.T, on *simtest.Deployment, more map[string]string, model func(settings.Settings) (streams.Model, error),
) *inprocess {
	t.Helper()
	d := &inprocess{Deployment: on, t: t, model: model}
	d.client = d.Client()
	key := filepath.Join(t.TempDir(), "master.key")
	servicetest.WriteKey(t, key, 7)
	d.env = servicetest.Environment("late", d.Addr(), key, "state")
	maps.Copy(d.env, more)
	maps.DeleteFunc(d.env, func(_, value string) bool { return value == "" })
	return d
}

func (d *inprocess) create(partitions int) {
	d.t.Helper()
	if err := topics.Create(d.t.Context(), d.client, d.env["ORIEL_INPUT_TOPIC"], partitions, 1, nil); err != nil {
		d.t.Fatal(err)
	}
	topics := d.start("topics", simtest.NewDisk(), func(ctx context.Context, h service.Host) error {
		return service.PrepareTopics(ctx, h, 0, nil)
	})
	if err := topics.Wait(); err != nil {
		d.t.Fatal(err)
	}
}

func (d *inprocess) send(p int32, records ...records.Record) {
	d.t.Helper()
	if err := logtest.Send(d.t.Context(), d.client, d.env["ORIEL_INPUT_TOPIC"], p, records...); err != nil {
		d.t.Fatal(err)
	}
}

// child is a running command. It stands for a process of its own.
type child struct {
	*simtest.Member
	out  *servicetest.Output
	page atomic.Value // address of the command's pages, a string
	code int
}

func (d *inprocess) start(name string, disk *vfs.MemFS, command func(context.Context, service.Host) error) *child {
	c := &child{out: new(servicetest.Output)}
	h := service.Host{Model: d.model}
	for _, k := range slices.Sorted(maps.Keys(d.env)) {
		h.Environ = append(h.Environ, k+"="+d.env[k])
	}
	c.Member = d.Start(name, disk, func(ctx context.Context, m *simtest.Member) error {
		h.Stderr, h.Client, h.Store.FS, h.Listener.Reached = m.Writer(c.out), m.Network, disk, m.Reached
		h.Listen = func(network, address string) (net.Listener, error) {
			l, err := m.Listen(network, address)
			if err == nil {
				c.page.Store(l.Addr().String())
			}
			return l, err
		}
		err := command(ctx, h)
		c.code = exit.Report(h.Stderr, "oriel", err)
		return err
	})
	return c
}

func (c *child) ended() bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}

// get returns the status and the body of a service's page, or the error if the service has no page.
func (d *inprocess) get(c *child, path string) string {
	page, _ := c.page.Load().(string)
	transport := &http.Transport{DialContext: d.Dial, DisableKeepAlives: true}
	answer, err := (&http.Client{Transport: transport}).Get("http://" + page + path)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d\n%s", answer.StatusCode, body)
}

// events returns this many frames of the event stream of a service's page, and the header of the response.
func (d *inprocess) events(c *child, frames int) string {
	page, _ := c.page.Load().(string)
	transport := &http.Transport{DialContext: d.Dial, DisableKeepAlives: true}
	answer, err := (&http.Client{Transport: transport}).Get("http://" + page + "/page/events")
	if err != nil {
		return err.Error()
	}
	defer func() { _ = answer.Body.Close() }()
	var text strings.Builder
	fmt.Fprintln(&text, answer.StatusCode, answer.Header)
	lines := bufio.NewReader(answer.Body)
	for frames > 0 {
		line, err := lines.ReadString('\n')
		text.WriteString(line)
		if err != nil {
			return text.String() + err.Error()
		}
		if strings.HasPrefix(line, `data: {"time":`) && strings.Contains(line, `"ready":`) {
			frames--
		}
	}
	return text.String()
}

// seeAssets adds to seen the page and everything that the page loads.
func (d *inprocess) seeAssets(seen *sight, c *child) {
	index := d.get(c, "/")
	seen.see("page", index)
	for _, found := range regexp.MustCompile(`(?:src|href)="(/page/[^"]+)"`).FindAllStringSubmatch(index, -1) {
		seen.see(found[1], fmt.Sprintf("%x", sha256.Sum256([]byte(d.get(c, found[1])))))
	}
}

// blind returns the configured model with a machine that ignores events.
func blind() func(settings.Settings) (streams.Model, error) {
	return seated(func(m *streams.Model, promised protection.Guarantee) {
		m.Learner = pipetest.Blind{States: promised}.Instead(m.Learner)
	})
}

// seated returns a function that makes the configured model, changed by with. It computes the model's plan only once,
// because that takes long.
func seated(
	with func(m *streams.Model, promised protection.Guarantee),
) func(settings.Settings) (streams.Model, error) {
	plans := map[string][]byte{}
	guarantees := map[string]protection.Guarantee{}
	return func(s settings.Settings) (streams.Model, error) {
		m := s.Model()
		plan, known := plans[m.Settings]
		if !known {
			var err error
			if plan, err = m.Learner.Params(); err != nil {
				return m, err
			}
			if guarantees[m.Settings], err = s.Guarantee(m); err != nil {
				return m, err
			}
			plans[m.Settings] = plan
		}
		m.Learner = decisiontest.Freeze(m.Learner, plan)
		with(&m, guarantees[m.Settings])
		return m, nil
	}
}
