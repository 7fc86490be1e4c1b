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

// subject is a subject of a registry: of the registry at TEST_REGISTRY if the variable is set, otherwise of a
// fake.
type subject struct {
	t    *testing.T
	name string
	at   *url.URL
	asks *sr.Client
	fake *srfake.Registry // nil: the registry is a real one
}

func newSubject(t *testing.T, name string) *subject {
	t.Helper()
	at := os.Getenv("TEST_REGISTRY")
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

// withinReach serves the registry until the caller closes the returned server.
func (s *subject) withinReach() *httptest.Server {
	return httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(s.at) }})
}

// write registers an Avro schema, and returns a function that encodes records with it, in Confluent's framing.
func (s *subject) write(fields string) func(total int) records.Record {
	s.t.Helper()
	text := `{"type":"record","name":"Order","fields":[` + fields + `]}`
	id := s.register(sr.Schema{Schema: text})
	schema, err := avro.Parse(text)
	s.check(err)
	return func(total int) records.Record {
		s.t.Helper()
		order := map[string]any{"late": true, "total": total, "amount": total, "shop": "s"}
		if strings.Contains(fields, "double") {
			order["total"] = float64(total)
		}
		b, err := schema.AppendEncode(binary.BigEndian.AppendUint32([]byte{0}, id), order)
		s.check(err)
		return records.Record{Value: b}
	}
}

// writeProtobuf is like write, for a Protobuf schema: field 1 says whether an order was late, field 2 is its total.
func (s *subject) writeProtobuf(fields string) func(total int) records.Record {
	s.t.Helper()
	id := s.register(sr.Schema{Type: sr.TypeProtobuf, Schema: `syntax = "proto3"; message Order { ` + fields + ` }`})
	return func(total int) records.Record {
		b := append(binary.BigEndian.AppendUint32([]byte{0}, id), 0, 0x08, 1, 0x10)
		return records.Record{Value: binary.AppendUvarint(b, uint64(total))}
	}
}

func (s *subject) register(schema sr.Schema) uint32 {
	s.t.Helper()
	registered, err := s.asks.CreateSchema(s.t.Context(), s.name, schema)
	s.check(err)
	return uint32(registered.ID)
}

// evolution is a schema of orders and its later versions, in one schema language. The mapping uses the fields late and
// total.
type evolution struct {
	write                              func(*subject, string) func(int) records.Record
	first, more, wider, renamed, fewer string
	// refused: a version that the mapping cannot read; empty: none. why: text of the error
	refused, why string
	again        sr.Schema
}

var evolutions = map[string]evolution{
	"avro": {
		write: (*subject).write, first: avroLate + `,{"name":"total","type":"int"}`,
		more:    avroLate + `,{"name":"shop","type":"string","default":""},{"name":"total","type":"int"}`,
		wider:   avroLate + `,{"name":"total","type":"double"}`,
		renamed: avroLate + `,{"name":"amount","type":"int","aliases":["total"]}`,
		fewer:   avroLate,
		refused: `{"name":"total","type":"int"}`,
		why:     "label: path /late: no record of this schema has a value there, and events of",
		again:   sr.Schema{Schema: `{"type":"record","name":"Order","fields":[` + avroLate + `]}`},
	},
	"protobuf": {
		write: (*subject).writeProtobuf, first: `bool late = 1; int32 total = 2;`,
		more:    `bool late = 1; int32 total = 2; string shop = 3;`,
		wider:   `bool late = 1; int64 total = 2;`,
		renamed: `bool was_late = 1; int32 amount = 2;`, // a reader that finds fields by name would miss the label
		fewer:   `bool late = 1;`,
		refused: `bool late = 1; string total = 9;`,
		why:     "features[0]: path /total: field total (9) holds string, and field total (2) of the reader's schema int32: they are different fields. Leave ids out by --leave-out",
		again:   sr.Schema{Type: sr.TypeProtobuf, Schema: `syntax = "proto3"; message Order { bool late = 1; }`},
	},
}

const avroLate = `{"name":"late","type":"boolean"}`

// TestSchemasOfARegistry checks that `oriel topics` freezes the registry's schemas. From then on the service must work
// without the registry, or if it has lost the subject. A later id is unknown until `oriel schema pull` and known
// afterwards, whether its schema has more, fewer, wider or renamed fields. A version that cannot be read is refused
// unless it is excluded. A replay must agree with all decisions.
func TestSchemasOfARegistry(t *testing.T) {
	t.Parallel()
	for language, e := range evolutions {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			testSchemasOfARegistry(t, language, e)
		})
	}
}

func testSchemasOfARegistry(t *testing.T, language string, e evolution) {
	f := newFixture(t, 1, nil)
	s := newSubject(t, f.Name+"-value")
	registry := s.withinReach()
	for name, value := range map[string]string{
		"ORIEL_FORMAT": language, "ORIEL_FRAMING": "confluent", "ORIEL_SCHEMA_REGISTRY": registry.URL,
		"ORIEL_SCHEMA_SUBJECT": s.name, "ORIEL_MAP": `{"label":"late","features":["total"]}`,
	} {
		f.Env[name] = value
	}
	first, more := e.write(s, e.first), e.write(s, e.more)
	if said := f.Must("topics"); !strings.Contains(said, "froze schemas of "+s.name) {
		t.Errorf("topics said %q", said)
	}
	registry.Close()
	if said := f.Must("topics"); strings.Contains(said, "froze") {
		t.Errorf("topics again said %q", said)
	}
	wider, renamed := e.write(s, e.wider), e.write(s, e.renamed)
	fewer := e.write(s, e.fewer) // the newest version lacks a feature; the mapping reads it like the older ones
	running := f.Start(nil, "run")
	sent := []records.Record{first(1), more(2), wider(3), renamed(4), {Value: []byte("no framing")}, first(5)}
	f.Send(0, sent...)
	f.AwaitTaken(time.Minute, int64(len(sent)))
	checkpoint := filepath.Join(t.TempDir(), "checkpoint")
	f.Must("replay", "--save", checkpoint)
	f.Fails("connection refused", "pull")

	registry = s.withinReach()
	defer registry.Close()
	f.Env["ORIEL_SCHEMA_REGISTRY"] = registry.URL
	pull := []string{"pull"}
	f.Fails(fmt.Sprintf("--leave-out 987654321: the registry has no schema of this id in subject %q; it has ids %d, ",
		s.name, idOf(first(1))), "pull", "--leave-out", "987654321")
	if e.refused != "" {
		id := idOf(e.write(s, e.refused)(0))
		f.Fails(fmt.Sprintf("schema id %d: %s", id, e.why), "pull")
		pull = append(pull, "--leave-out", fmt.Sprint(id))
	}
	if said := f.Must(pull...); !strings.Contains(said, "known from partition 0 offset 6 on") {
		t.Errorf("pull said %q", said)
	}
	if said := f.Must(pull...); !strings.Contains(said, "nothing new") {
		t.Errorf("pull again said %q", said)
	}
	running.Says("the schema registry is not compared with the frozen schemas")
	running.Terminate()
	compared := f.Start(nil, "run") // what was left out is no news
	f.Await(time.Minute, "a comparison with the registry", func() bool {
		said := compared.Output()
		return strings.Contains(said, "every schema of the registry is frozen") && strings.Contains(said, "state=running")
	})
	if pages := f.Pages(compared); !strings.Contains(pages, `oriel_schemas_unfrozen{deployment="`+f.Name+`"} 0`) {
		t.Errorf("pages %s", pages)
	}
	_, err := s.asks.DeleteSubject(t.Context(), s.name, sr.SoftDelete)
	s.check(err)
	later := []records.Record{wider(6), fewer(0), renamed(7), more(8)}
	f.Send(0, later...)
	f.AwaitTaken(time.Minute, int64(len(sent)+len(later)))
	compared.Terminate()

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

	anew := srfake.New() // another registry that uses the same id for another schema
	defer anew.Close()
	anew.SeedSchema(s.name, 1, int(idOf(sent[0])), e.again)
	f.Env["ORIEL_SCHEMA_REGISTRY"] = anew.URL()
	f.Fails("is another schema than the one that is frozen under this id", "pull")
}

// idOf returns the id of the schema that a record names.
func idOf(r records.Record) uint32 { return binary.BigEndian.Uint32(r.Value[1:]) }
