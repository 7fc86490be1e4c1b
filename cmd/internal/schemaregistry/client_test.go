package schemaregistry

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/sr"
	"github.com/twmb/franz-go/pkg/sr/srfake"

	"oriel/state"
)

func client(t *testing.T, c Config) *Client {
	t.Helper()
	asks, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return asks
}

func avro(fields string) sr.Schema {
	return sr.Schema{Schema: `{"type":"record","name":"Order","fields":[` + fields + `]}`}
}

// TestVersionsOfASubject checks that all versions are returned in order, including a deleted one, and that a referenced
// schema comes before the schema that references it.
func TestVersionsOfASubject(t *testing.T) {
	registry := srfake.New()
	defer registry.Close()
	place := sr.Schema{Schema: `{"type":"enum","name":"Place","symbols":["here"]}`}
	money := sr.Schema{
		Schema:     `{"type":"record","name":"Money","fields":[{"name":"place","type":"Place"}]}`,
		References: []sr.SchemaReference{{Name: "Place", Subject: "place", Version: 1}},
	}
	later := avro(`{"name":"total","type":"Money"},{"name":"place","type":"Place"}`)
	later.References = []sr.SchemaReference{
		{Name: "Money", Subject: "money", Version: 1}, {Name: "Place", Subject: "place", Version: 1},
	}
	registry.SeedSchema("place", 1, 1, place)
	registry.SeedSchema("money", 1, 2, money)
	registry.SeedSchema("orders-value", 2, 70_000, later)
	registry.SeedSchema("orders-value", 1, 7, avro(`{"name":"total","type":"long"}`))
	deletes, err := sr.NewClient(sr.URLs(registry.URL()))
	if err == nil {
		err = deletes.DeleteSchema(t.Context(), "orders-value", 1, sr.SoftDelete)
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := client(t, Config{URL: registry.URL() + "/"}).Versions(t.Context(), "orders-value")
	want := []Version{
		{"orders-value", 1, "AVRO", state.Schema{ID: 7, Text: avro(`{"name":"total","type":"long"}`).Schema}},
		{"orders-value", 2, "AVRO", state.Schema{ID: 70_000, Text: later.Schema, References: []state.SchemaReference{
			{Name: "Place", Text: place.Schema}, {Name: "Money", Text: money.Schema},
		}}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

func TestRegistriesThatRefuse(t *testing.T) {
	registry := srfake.New(srfake.WithAuth("Basic b3JpZWw6cmlnaHQ=")) // user oriel, password right
	defer registry.Close()
	registry.SeedSchema("orders-value", 1, 7, avro(""))
	right := client(t, Config{URL: registry.URL(), User: "oriel", Password: "right"})
	if _, err := right.Versions(t.Context(), "orders-value"); err != nil {
		t.Error(err)
	}
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for block := []byte("[" + strings.Repeat(" ", 1<<16)); ; {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}))
	defer endless.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	for want, c := range map[string]Config{
		"ORIEL_SCHEMA_REGISTRY_USER": {URL: registry.URL(), User: "oriel", Password: "wrong"},
		"ORIEL_SCHEMA_SUBJECT":       {URL: registry.URL(), User: "oriel", Password: "right"},
		"more than 4194304 bytes":    {URL: endless.URL},
		"connection refused":         {URL: gone.URL},
	} {
		subject := "orders-value"
		if want == "ORIEL_SCHEMA_SUBJECT" {
			subject = "order-value"
		}
		_, err := client(t, c).Versions(t.Context(), subject)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), subject) ||
			strings.Contains(err.Error(), "wrong") {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// TestReferencesEnd checks that the client follows neither circular references nor long chains without end.
func TestReferencesEnd(t *testing.T) {
	answer := func(named string) *httptest.Server {
		return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/versions") {
				_, _ = w.Write([]byte("[1]"))
				return
			}
			subject := strings.Split(r.URL.Path, "/")[2]
			_, _ = w.Write([]byte(`{"id":1,"schema":"{}","references":[{"name":"` + subject + named + `","subject":"` + subject + named + `","version":1}]}`))
		}))
	}
	for _, named := range []string{"", "x"} {
		registry := answer(named)
		_, err := client(t, Config{URL: registry.URL}).Versions(t.Context(), "orders")
		if err == nil || !strings.Contains(err.Error(), "in a circle, or more than 16 deep") {
			t.Errorf("%q: %v", named, err)
		}
		registry.Close()
	}
}
