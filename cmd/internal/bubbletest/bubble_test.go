package bubbletest

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"oriel/cmd/internal/decisiontest"
	"oriel/cmd/internal/servicetest"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms/protection"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/simtest"
	"oriel/pipeline/streams"
)

// bubble is a deployment with the methods that the tests of this package need.
type bubble struct{ *servicetest.Bubble }

// newBubble returns a deployment with its topics.
func newBubble(
	t *testing.T, partitions int, more map[string]string, model func(settings.Settings) (streams.Model, error),
) bubble {
	t.Helper()
	return newBubbleOf(t, partitions, nil, more, model)
}

// newBubbleOf returns a deployment with its topics; input has settings of the input.
func newBubbleOf(
	t *testing.T, partitions int, input, more map[string]string, model func(settings.Settings) (streams.Model, error),
) bubble {
	t.Helper()
	d := bubble{servicetest.NewBubble(t, simtest.New(t), more, model)}
	d.Create(partitions, input)
	return d
}

// get returns the status and the body of a service's page, or the error if the service has no page.
func (d bubble) get(c *servicetest.Command, path string) string {
	page, _ := c.Page.Load().(string)
	transport := &http.Transport{DialContext: d.Broker.Dial, DisableKeepAlives: true}
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
func (d bubble) events(c *servicetest.Command, frames int) string {
	page, _ := c.Page.Load().(string)
	transport := &http.Transport{DialContext: d.Broker.Dial, DisableKeepAlives: true}
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
func (d bubble) seeAssets(seen *sight, c *servicetest.Command) {
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
