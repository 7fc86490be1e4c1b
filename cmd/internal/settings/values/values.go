package values

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"oriel/cmd/internal/recordschema"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

// Unless returns an error that the format describes, unless ok.
func Unless(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// Within returns an error unless x is from least to most.
func Within[T int | uint64 | float64](x, least, most T) error {
	return Unless(x >= least && x <= most, "%v: not within %v to %v", x, least, most)
}

// The two forms of ORIEL_USER_ID.
const (
	ByKey    = "key"
	ByHeader = "header:"
)

var (
	deploymentName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,200}$`)
	topicName      = regexp.MustCompile(`^[A-Za-z0-9._-]{1,249}$`) // Kafka's rule, besides . and ..
)

// Name returns an error unless the text can name a deployment.
func Name(text string) error {
	return Unless(deploymentName.MatchString(text),
		"%s: not 1 to 200 letters, digits, dots, underscores and hyphens", Shown(text))
}

// Topic returns an error unless the text can name a topic.
func Topic(text string) error {
	return Unless(topicName.MatchString(text) && text != "." && text != "..",
		"%s: not 1 to 249 letters, digits, dots, underscores and hyphens, which names of topics have", Shown(text))
}

// Brokers returns an error unless each broker is host:port.
func Brokers(brokers []string) error {
	for _, broker := range brokers {
		if host, port, err := net.SplitHostPort(broker); err != nil || host == "" || port == "" {
			return fmt.Errorf("%s: not host:port", Shown(broker))
		}
	}
	return nil
}

// Address returns an error unless the text is host:port; the host may be empty.
func Address(text string) error {
	_, _, err := net.SplitHostPort(text)
	return Unless(err == nil, "%s: not host:port", Shown(text))
}

// TokenURL returns an error unless the text is a URL to which a secret may be sent.
func TokenURL(text string) error {
	at, err := url.Parse(text)
	return Unless(err == nil && at.Host != "" && at.User == nil &&
		(at.Scheme == "https" || at.Scheme == "http" && IsLoopback(at.Hostname())), "must be an https URL without a user name; http is allowed for loopback alone, because the secret is sent to this URL")
}

// Registry returns an error unless the text is the URL of a schema registry.
func Registry(text string) error {
	at, err := url.Parse(text)
	return Unless(err == nil && (at.Scheme == "http" || at.Scheme == "https") && at.Host != "" && at.User == nil,
		"not the http or https URL of a registry, without a user: ORIEL_SCHEMA_REGISTRY_USER names one")
}

// UserID returns an error unless the text says where a record has its user id.
func UserID(text string) error {
	header, isHeader := strings.CutPrefix(text, ByHeader)
	return Unless(text == ByKey || isHeader && header != "", "%s: not key or header:NAME", Shown(text))
}

// SchemaIDs returns an error unless each text is a schema id, alone or with a file.
func SchemaIDs(texts []string) error {
	for _, text := range texts {
		if _, _, err := recordschema.ParseID(text); err != nil {
			return err
		}
	}
	return nil
}

// Ranges returns an error unless the text has ranges of features.
func Ranges(text string) error {
	_, err := event.ParseRanges(text)
	return err
}

// Shown returns a value in the form in which errors show it: quoted, and cut if it is long.
func Shown(value string) string { return text.Shown([]byte(value)) }

// IsLoopback reports whether the host is this computer.
func IsLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}
