package streams

import (
	"testing"

	"oriel/pipeline/kafka/records"
)

// TestUserIsNamedOnce checks that a record's user is its key, or its one header of the configured name, and that no
// header is decoded for it.
func TestUserIsNamedOnce(t *testing.T) {
	person := func(name string) records.Header { return records.Header{Key: "person", Value: []byte(name)} }
	other := records.Header{Key: "persons", Value: []byte("x")}
	for _, c := range []struct {
		header  string
		headers []records.Header
		want    string
	}{
		{"", []records.Header{person("a")}, "key"},
		{"person", []records.Header{other, person("a"), other}, "a"},
		{"person", []records.Header{person("a"), person("a")}, ""},
		{"person", []records.Header{person("a"), person("")}, ""},
		{"person", []records.Header{other, {Key: "person"}}, ""},
		{"person", []records.Header{{Key: "Person", Value: []byte("a")}}, ""},
		{"person", nil, ""},
	} {
		u, r := Users{Header: c.header}, records.Record{Key: []byte("key"), Headers: records.HeadersOf(c.headers...)}
		if got := u.name(&r); string(got) != c.want {
			t.Errorf("header %q of %v: %q, want %q", c.header, c.headers, got, c.want)
		}
		if n := testing.AllocsPerRun(10, func() { u.name(&r) }); n != 0 {
			t.Errorf("header %q of %d: %v allocations", c.header, len(c.headers), n)
		}
	}
}

// TestUserOfARecord checks that two headers of the name give no user, because the choice between them would be
// arbitrary.
func TestUserOfARecord(t *testing.T) {
	header := func(key, value string) records.Header { return records.Header{Key: key, Value: []byte(value)} }
	r := records.Record{Key: []byte("key"), Headers: records.HeadersOf(
		header("user", "ann"), header("twice", "bob"), header("User", "eve"), header("twice", "bob"), header("empty", ""),
	)}
	for name, want := range map[string]string{
		"": "key", "user": "ann", "User": "eve", "twice": "", "empty": "", "none": "",
	} {
		if got := string((&Users{Separation: 1, Batch: 1, Header: name}).name(&r)); got != want {
			t.Errorf("header %q: %q, want %q", name, got, want)
		}
	}
	if limiter, err := (*Users)(nil).Limiter([32]byte{}); limiter != nil || err != nil {
		t.Errorf("at event level there is a limiter: %v, %v", limiter, err)
	}
}
