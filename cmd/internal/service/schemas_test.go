package service_test

import (
	"encoding/binary"
	"fmt"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/avro"
	"github.com/twmb/franz-go/pkg/sr"
	"github.com/twmb/franz-go/pkg/sr/srfake"

	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka/records"
)

// subject is one of a registry: a real one at ORIEL_TEST_REGISTRY, or else a fake.
type subject struct {
	t    *testing.T
	name string
	at   *url.URL
	asks *sr.Client
	fake *srfake.Registry // nil: a real one
}

func newSubject(t *testing.T, name string) *subject {
	t.Helper()
	at := os.Getenv("ORIEL_TEST_REGISTRY")
	s := &subject{t: t, name: name}
	if at == "" {
		s.fake = srfake.New()
		t.Cleanup(s.fake.Close)
		at = s.fake.URL()
	}
	var err error
	if s.at, err = url.Parse(at); err == nil {
		s.asks, err = sr.NewClient(sr.URLs(at))
	}
	s.check(err)
	return s
}

func (s *subject) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// withinReach is the registry until the server is closed.
func (s *subject) withinReach() *httptest.Server {
	return httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(s.at) }})
}

// write registers a schema, and returns what writes records with it, in Confluent's framing.
func (s *subject) write(fields string) func(order map[string]any) records.Record {
	s.t.Helper()
	text := `{"type":"record","name":"Order","fields":[` + fields + `]}`
	registered, err := s.asks.CreateSchema(s.t.Context(), s.name, sr.Schema{Schema: text})
	s.check(err)
	schema, err := avro.Parse(text)
	s.check(err)
	return func(order map[string]any) records.Record {
		s.t.Helper()
		b, err := schema.AppendEncode(binary.BigEndian.AppendUint32([]byte{0}, uint32(registered.ID)), order)
		s.check(err)
		return records.Record{Value: b}
	}
}

// TestSchemasOfARegistry: `oriel topics` freezes what the registry has. From then on nothing depends on it: it may be
// away, or have lost the subject. An id that comes later is unknown until `oriel schema pull`, and known from there on,
// whether its schema has more fields, fewer, wider or renamed ones. A replay says the same.
func TestSchemasOfARegistry(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	s := newSubject(t, f.Name+"-value")
	registry := s.withinReach()
	for name, value := range map[string]string{
		"ORIEL_FORMAT": "avro", "ORIEL_FRAMING": "confluent", "ORIEL_SCHEMA_REGISTRY": registry.URL,
		"ORIEL_SCHEMA_SUBJECT": s.name, "ORIEL_MAP": `{"label":"late","features":["total"]}`,
	} {
		f.Env[name] = value
	}
	const late = `{"name":"late","type":"boolean"}`
	first := s.write(late + `,{"name":"total","type":"int"}`)
	more := s.write(late + `,{"name":"shop","type":"string","default":""},{"name":"total","type":"int"}`)
	order := func(total any) map[string]any {
		return map[string]any{"late": true, "total": total, "amount": total, "shop": "s"}
	}
	if said := f.Must("topics"); !strings.Contains(said, "froze schemas of "+s.name) {
		t.Errorf("topics said %q", said)
	}
	registry.Close()
	if said := f.Must("topics"); strings.Contains(said, "froze") {
		t.Errorf("topics again said %q", said)
	}
	wider := s.write(late + `,{"name":"total","type":"double"}`)
	renamed := s.write(late + `,{"name":"amount","type":"int","aliases":["total"]}`)
	fewer := s.write(late) // the newest: it is read as the mapping asks of the older ones, and lacks a feature
	running := f.Start(nil, "run")
	sent := []records.Record{
		first(order(1)), more(order(2)), wider(order(3.0)), renamed(order(4)), {Value: []byte("no framing")}, first(order(5)),
	}
	f.Send(0, sent...)
	f.AwaitTaken(time.Minute, int64(len(sent)))
	checkpoint := filepath.Join(t.TempDir(), "checkpoint")
	f.Must("replay", "--save", checkpoint)
	f.Fails("connection refused", "pull")

	registry = s.withinReach()
	defer registry.Close()
	f.Env["ORIEL_SCHEMA_REGISTRY"] = registry.URL
	if said := f.Must("pull"); !strings.Contains(said, "known from partition 0 offset 6 on") {
		t.Errorf("pull said %q", said)
	}
	if said := f.Must("pull"); !strings.Contains(said, "nothing new") {
		t.Errorf("pull again said %q", said)
	}
	_, err := s.asks.DeleteSubject(t.Context(), s.name, sr.SoftDelete)
	s.check(err)
	later := []records.Record{wider(order(6.5)), fewer(order(0)), renamed(order(7)), more(order(8))}
	f.Send(0, later...)
	f.AwaitTaken(time.Minute, int64(len(sent)+len(later)))
	running.Terminate()

	f.CheckHistory(0, len(sent)+len(later))
	letters := f.Letters(0)
	want := []string{"2 unknown_schema", "3 unknown_schema", "4 unknown_framing"}
	if got := servicetest.Reasons(letters); !slices.Equal(got, want) {
		t.Errorf("letters %q, want %q", got, want)
	}
	detail := servicetest.LetterHeaders(letters[0])["oriel-detail"]
	if !strings.Contains(detail, fmt.Sprint("unknown_schema: id ", idOf(sent[2]), ": ")) {
		t.Errorf("detail %q", detail)
	}
	f.Compares(checkpoint, len(later))

	anew := srfake.New() // a registry that gives an id again
	defer anew.Close()
	anew.SeedSchema(s.name, 1, int(idOf(sent[0])), sr.Schema{Schema: `{"type":"record","name":"Order","fields":[` + late + `]}`})
	f.Env["ORIEL_SCHEMA_REGISTRY"] = anew.URL()
	f.Fails("is another schema than the one that is frozen under this id", "pull")
}

// idOf is the id of the schema that a record names.
func idOf(r records.Record) uint32 { return binary.BigEndian.Uint32(r.Value[1:]) }
