package registry

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/sr"
	"github.com/twmb/franz-go/pkg/sr/srfake"

	"oriel/cmd/internal/settings"
	"oriel/state"
)

// TestComparisonWithTheRegistry checks what is reported of each change of the registry and of the frozen schemas: the
// number of versions that are not frozen, and each finding as one line. Nothing is reported while the registry is away.
func TestComparisonWithTheRegistry(t *testing.T) {
	registry := srfake.New()
	t.Cleanup(registry.Close)
	text := func(name string) string { return `{"type":"record","name":"` + name + `","fields":[]}` }
	seed := func(version, id int, name string) {
		registry.SeedSchema("orders", version, id, sr.Schema{Schema: text(name)})
	}
	seed(1, 11, "A")
	s, err := settings.Load([]string{
		"ORIEL_SCHEMA_REGISTRY=" + registry.URL(), "ORIEL_SCHEMA_SUBJECT=orders",
		"ORIEL_FORMAT=avro", "ORIEL_FRAMING=confluent",
	})
	if err != nil {
		t.Fatal(err)
	}
	frozen := state.Schemas{{ID: 11, Text: text("A")}}
	var unread error
	var log bytes.Buffer
	reported := -1
	c := &comparison{
		settings: s, log: slog.New(slog.NewTextHandler(&log, nil)),
		frozen: func(context.Context) (state.Schemas, error) { return frozen, unread },
		report: func(n int) { reported = n },
	}
	check := func(what string, want int, said ...string) {
		t.Helper()
		log.Reset()
		reported = -1
		c.once(t.Context())
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if reported != want || len(said) == 0 && log.Len() > 0 || len(said) > 0 && len(lines) != 1 {
			t.Errorf("%s: reported %d, want %d; log %q", what, reported, want, log.String())
		}
		for _, text := range said {
			if !strings.Contains(log.String(), text) {
				t.Errorf("%s: log %q lacks %q", what, log.String(), text)
			}
		}
	}
	check("all frozen", 0, "level=INFO", "every schema of the registry is frozen")
	check("again", 0)
	seed(2, 12, "B")
	check("a new version", 1, "level=WARN", "oriel schema pull", "ids=12", "subject=orders")
	check("again", 1)
	seed(3, 13, "C")
	check("another one", 2, `ids="12, 13"`)
	frozen = append(frozen, state.Schema{ID: 12, Text: text("B"), Since: []state.SchemaSince{}}, state.Schema{ID: 13, Text: text("C"), LeftOut: true})
	check("pulled, and left out", 0, "every schema of the registry is frozen")
	frozen[1].Text = text("X")
	check("another schema under an id", 1, "ids=12")
	frozen[1].Text = text("B")
	unread = errors.New("the brokers are away")
	check("the changelog cannot be read", -1, "level=INFO", "not compared", "the brokers are away")
	check("again", -1)
	unread = nil
	check("it can", 0, "every schema")
	registry.Close()
	check("the registry is away", -1, "level=INFO", "not compared", "connection refused")
	check("again", -1)
	ctx, cancel := context.WithCancel(t.Context())
	log.Reset()
	stop := c.start(ctx)
	cancel()
	stop()
	if log.Len() > 0 {
		t.Errorf("a service that stops said %q", log.String())
	}
}

// TestTheRegistryIsComparedEachHour counts the comparisons of two and a half hours: one at the start, and one an hour.
func TestTheRegistryIsComparedEachHour(t *testing.T) {
	fake := srfake.NewRegistry()
	server := httptest.NewUnstartedServer(fake.Handler())
	server.Config.SetKeepAlivesEnabled(false) // the clock of a bubble stops while a connection stays open
	server.Start()
	t.Cleanup(server.Close)
	fake.SeedSchema("orders", 1, 11, sr.Schema{Schema: `"int"`})
	synctest.Test(t, func(t *testing.T) {
		s, err := settings.Load([]string{
			"ORIEL_SCHEMA_REGISTRY=" + server.URL, "ORIEL_SCHEMA_SUBJECT=orders", "ORIEL_FORMAT=avro", "ORIEL_FRAMING=confluent",
		})
		if err != nil {
			t.Fatal(err)
		}
		compared := 0
		c := &comparison{
			settings: s, log: slog.New(slog.DiscardHandler), report: func(n int) { compared += n },
			frozen: func(context.Context) (state.Schemas, error) { return nil, nil },
		}
		stop := c.start(t.Context())
		time.Sleep(150 * time.Minute)
		stop()
		if compared != 3 {
			t.Errorf("compared %d times, want 3", compared)
		}
	})
}
