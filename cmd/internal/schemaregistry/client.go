package schemaregistry

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/sr"

	"oriel/state"
)

const (
	maxAnswer     = 4 << 20 // size of an answer, bytes
	maxVersions   = 1000    // versions of a subject
	maxReferences = 16      // length of a chain of references
	timeout       = 10 * time.Second
)

// Config has the address of a registry and the client's credentials.
type Config struct {
	URL            string
	User, Password string         // user and password for HTTP basic authentication; none if User is empty
	Authorities    *x509.CertPool // authorities that sign the registry's certificate; nil: those of the system
}

// Client sends requests to one registry.
type Client struct {
	asks *sr.Client
	url  string
}

// Version is a version of a subject in a registry.
type Version struct {
	Subject string
	Number  int    // number of the version in its subject, from 1
	Type    string // AVRO, PROTOBUF or JSON
	state.Schema
}

// String returns the version's name for messages.
func (v Version) String() string {
	return fmt.Sprintf("id %d (%s, version %d)", v.ID, v.Subject, v.Number)
}

// New returns a client. It sends no request yet.
func New(c Config) (*Client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: c.Authorities, MinVersion: tls.VersionTLS12}
	options := []sr.ClientOpt{
		sr.URLs(strings.TrimSuffix(c.URL, "/")), sr.UserAgent("oriel"),
		sr.HTTPClient(&http.Client{Timeout: timeout, Transport: bounded{transport}}),
	}
	if c.User != "" {
		options = append(options, sr.BasicAuth(c.User, c.Password))
	}
	asks, err := sr.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("schema registry: %w", err)
	}
	return &Client{asks, c.URL}, nil
}

// Versions returns every version of a subject, oldest first. It includes soft-deleted versions, because records of the
// topic may still name them.
func (c *Client) Versions(ctx context.Context, subject string) ([]Version, error) {
	ctx = sr.WithParams(ctx, sr.ShowDeleted)
	numbers, err := c.asks.SubjectVersions(ctx, subject)
	switch {
	case err != nil:
		return nil, c.failed(fmt.Sprintf("subject %q", subject), err)
	case len(numbers) == 0:
		return nil, fmt.Errorf("schema registry %s: subject %q has no versions", c.url, subject)
	case len(numbers) > maxVersions:
		return nil, fmt.Errorf("schema registry %s: subject %q has %d versions, more than %d", c.url, subject, len(numbers), maxVersions)
	}
	slices.Sort(numbers)
	versions := make([]Version, 0, len(numbers))
	for _, number := range numbers {
		found, err := c.asks.SchemaByVersion(ctx, subject, number)
		what := fmt.Sprintf("subject %q, version %d", subject, number)
		if err != nil {
			return nil, c.failed(what, err)
		}
		v := Version{
			Subject: subject, Number: number, Type: found.Type.String(),
			Schema: state.Schema{ID: uint32(found.ID), Text: found.Schema.Schema},
		}
		if found.ID < 0 || int64(found.ID) != int64(v.ID) {
			return nil, fmt.Errorf("schema registry %s: %s: the id %d is not a number of 32 bits", c.url, what, found.ID)
		}
		if v.References, err = c.references(ctx, found.References, nil, nil); err != nil {
			return nil, c.failed(what, err)
		}
		versions = append(versions, v)
	}
	return versions, nil
}

// Register makes a schema the newest version of a subject, unless it already is one of the versions, and returns the
// schema's id. kind is AVRO or PROTOBUF.
func (c *Client) Register(ctx context.Context, subject, kind, text string) (uint32, error) {
	schema := sr.Schema{Schema: text}
	if err := schema.Type.UnmarshalText([]byte(kind)); err != nil {
		return 0, fmt.Errorf("BUG: schemaregistry: %w", err)
	}
	id, err := c.asks.RegisterSchema(ctx, subject, schema, -1, -1)
	var answer *sr.ResponseError
	switch {
	case errors.As(err, &answer) && answer.StatusCode == http.StatusConflict:
		return 0, fmt.Errorf("schema registry %s: subject %q: the registry refuses the schema of decisions, because it is not compatible "+
			"with an earlier version: delete the subject, set its compatibility to NONE, or publish to another ORIEL_DECISION_TOPIC: %w",
			c.url, subject, err)
	case errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound:
		return 0, fmt.Errorf("schema registry %s: subject %q: schemas cannot be registered there: %w", c.url, subject, err)
	case err != nil:
		return 0, c.failed(fmt.Sprintf("subject %q", subject), err)
	case id < 1 || id > math.MaxInt32:
		return 0, fmt.Errorf("schema registry %s: subject %q: the id %d is not within 1 to 2147483647", c.url, subject, id)
	}
	return uint32(id), nil
}

// references appends the schemas that a schema references. below lists the subjects on the way to the schema. A schema
// that a reference itself references comes before it, and each name comes once.
func (c *Client) references(
	ctx context.Context, named []sr.SchemaReference, below []string, found []state.SchemaReference,
) ([]state.SchemaReference, error) {
	for _, r := range named {
		if slices.ContainsFunc(found, func(f state.SchemaReference) bool { return f.Name == r.Name }) {
			continue
		}
		if len(below) == maxReferences || slices.Contains(below, r.Subject) {
			return nil, fmt.Errorf("the schema's reference %q is in a circle, or more than %d deep", r.Name, maxReferences)
		}
		schema, err := c.asks.SchemaByVersion(ctx, r.Subject, r.Version)
		if err != nil {
			return nil, fmt.Errorf("the schema's reference %q: %w", r.Name, err)
		}
		if found, err = c.references(ctx, schema.References, append(below, r.Subject), found); err != nil {
			return nil, err
		}
		found = append(found, state.SchemaReference{Name: r.Name, Text: schema.Schema.Schema})
	}
	return found, nil
}

func (c *Client) failed(what string, err error) error {
	var answer *sr.ResponseError
	if errors.As(err, &answer) {
		switch answer.StatusCode {
		case http.StatusNotFound:
			return fmt.Errorf("schema registry %s: %s: the subject does not exist in the registry, or was deleted; "+
				"ORIEL_SCHEMA_SUBJECT names the subject, which is TOPIC-value unless producers have another strategy, such as "+
				"TopicRecordNameStrategy", c.url, what)
		case http.StatusUnauthorized, http.StatusForbidden:
			return fmt.Errorf("schema registry %s: %s: refused: set ORIEL_SCHEMA_REGISTRY_USER and "+
				"ORIEL_SCHEMA_REGISTRY_PASSWORD_FILE for a user that has the right", c.url, what)
		}
	}
	return fmt.Errorf("schema registry %s: %s: %w", c.url, what, err)
}

// bounded limits every response to maxAnswer bytes.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer.Body = &limited{answer.Body, maxAnswer}
	return answer, nil
}

// limited returns an error if a body is longer than the limit.
type limited struct {
	io.ReadCloser
	left int
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if l.left -= n; l.left < 0 {
		return 0, fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	}
	return n, err
}
