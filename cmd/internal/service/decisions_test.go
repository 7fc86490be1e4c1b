package service_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/sr"

	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka/records"
	"oriel/schemas/decision"
)

// TestTheSchemaOfDecisionsIsRegistered checks that `oriel topics` registers the schema of decisions and freezes the id
// that the registry returns. After that the service must work without the registry. A registry that is configured for
// decisions only must not be asked about the input.
func TestTheSchemaOfDecisionsIsRegistered(t *testing.T) {
	t.Parallel()
	const format = "ORIEL_DECISIONS_FORMAT"
	f := newFixture(t, 1, forgetting())
	s := newSubject(t, f.Topic("decisions")+"-value")
	registry := s.withinReach()
	f.Env["ORIEL_SCHEMA_REGISTRY"], f.Env[format] = registry.URL, "protobuf"
	said := f.Must("topics")
	id := s.only()
	if !strings.Contains(said, fmt.Sprintf("is registered as %s: id %d", s.name, id)) {
		t.Errorf("topics said %q", said)
	}
	registry.Close()
	if said := f.Must("topics"); strings.Contains(said, "is registered") {
		t.Errorf("topics again said %q", said)
	}
	running := f.Start(nil, "run")
	f.Send(0, servicetest.Events(0, 5)...)
	f.Send(0, records.Record{Value: []byte("no event")})
	f.AwaitTaken(time.Minute, 6)
	checkpoint := filepath.Join(t.TempDir(), "checkpoint")
	f.Must("replay", "--save", checkpoint)
	f.Send(0, servicetest.Events(5, 4)...)
	f.AwaitTaken(time.Minute, 10)
	running.Terminate()
	f.CheckHistory(0, 10)
	f.name(id, decision.Protobuf)
	f.Compares(checkpoint, 4)
	letters := f.Letters(0)
	if got := servicetest.Reasons(letters); !slices.Equal(got, []string{"5 json_syntax"}) {
		t.Errorf("letters %q", got)
	}
	if detail := servicetest.LetterHeaders(letters[0])["oriel-detail"]; !strings.Contains(detail, "json_syntax: ") {
		t.Errorf("detail %q", detail)
	}
	delete(f.Env, "ORIEL_SCHEMA_REGISTRY")
	for _, other := range []string{fmt.Sprint(id + 1), "0"} {
		f.Refused(map[string]string{"ORIEL_DECISIONS_SCHEMA_ID": other}, "the configuration differs", "DECISIONS_SCHEMA_ID")
	}

	// A deployment that continues this one registers under a subject of its own. For Protobuf the schema is the same, and
	// therefore the id too.
	later := f.after(nil)
	again := &subject{t: t, name: later.Topic("decisions") + "-value", at: s.at, asks: s.asks}
	registry = s.withinReach()
	defer registry.Close()
	later.Env["ORIEL_SCHEMA_REGISTRY"] = registry.URL
	later.Must("topics")
	if got := again.only(); got != id {
		t.Errorf("the same schema has ids %d and %d", id, got)
	}
}

// name checks that all decisions name the schema with this id.
func (f *fixture) name(id uint32, encoding decision.Encoding) {
	f.T.Helper()
	for _, r := range f.Read(f.Topic("decisions"), 0, false) {
		d, err := decision.Parse(r.Value)
		if err != nil || d.SchemaID != id || d.Encoding != encoding || r.Value[0] != 0 {
			f.T.Fatalf("offset %d: %v, id %d of encoding %d, want id %d", r.Offset, err, d.SchemaID, d.Encoding, id)
		}
	}
}

// only returns the id of the subject's only version.
func (s *subject) only() uint32 {
	s.t.Helper()
	all, err := s.asks.Schemas(s.t.Context(), s.name)
	s.check(err)
	if len(all) != 1 {
		s.t.Fatalf("subject %s has %d versions", s.name, len(all))
	}
	return uint32(all[0].ID)
}

// TestDecisionsKeepWhatTheDeploymentWasOpenedWith checks three cases. A deployment that was opened before its settings
// named a registry continues without ids. A deployment with an id in its settings registers nothing. The id 0 means
// that there is none.
func TestDecisionsKeepWhatTheDeploymentWasOpenedWith(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, map[string]string{"ORIEL_DECISIONS_FORMAT": "avro"})
	s := newSubject(t, f.Topic("decisions")+"-value")
	f.Must("topics")
	f.Env["ORIEL_SCHEMA_REGISTRY"] = s.at.String()
	if said := f.Must("topics"); strings.Contains(said, "is registered") {
		t.Errorf("topics of an opened deployment said %q", said)
	}
	running := f.Start(nil, "run")
	f.Send(0, servicetest.Events(0, 2)...)
	f.AwaitTaken(time.Minute, 2)
	running.Terminate()
	for _, r := range f.Read(f.Topic("decisions"), 0, false) {
		if r.Value[0] != 0xc3 {
			t.Errorf("offset %d starts with %x", r.Offset, r.Value[0])
		}
	}
	delete(f.Env, "ORIEL_SCHEMA_REGISTRY")
	f.goesOn(2)
}

// TestRegistriesThatRefuseDecisions checks that no deployment is opened if the registry refuses the schema, and that
// the message says what to do.
func TestRegistriesThatRefuseDecisions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, map[string]string{"ORIEL_DECISIONS_FORMAT": "avro"})
	s := newSubject(t, f.Topic("decisions")+"-value")
	s.write(`{"name":"late","type":"boolean"}`)
	if s.fake != nil {
		s.fake.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPost {
				w.WriteHeader(http.StatusConflict)
				_, _ = w.Write([]byte(`{"error_code":409,"message":"incompatible"}`))
			}
			return r.Method == http.MethodPost
		})
	} else {
		for _, r := range s.asks.SetCompatibility(t.Context(), sr.SetCompatibility{Level: sr.CompatFull}, s.name) {
			s.check(r.Err)
		}
	}
	f.Env["ORIEL_SCHEMA_REGISTRY"] = s.at.String()
	f.Fails(fmt.Sprintf("subject %q: the registry refuses the schema of decisions, because it is not compatible", s.name), "topics")
	f.Env["ORIEL_DECISIONS_SCHEMA_ID"] = "7"
	f.Fails("ORIEL_SCHEMA_REGISTRY: set, but only", "topics")
	delete(f.Env, "ORIEL_SCHEMA_REGISTRY")
	f.Must("topics") // no manifest was written
}
