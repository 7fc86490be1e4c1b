package settings

import (
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"oriel/cmd/internal/recordschema"
	"oriel/operators"
	"oriel/pipeline/deployment"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

// checkValues refuses a value that no command can use, whatever the other settings are. Every command calls it for all
// settings that are set. Rules of settings together are checked by the commands that use them. further names
// mechanisms that the chosen operator has besides.
func (s *Settings) checkValues(p *operators.Problems, given map[string]string, further []string) {
	for _, r := range s.rows() {
		if given[prefix+r.name] == "" {
			continue
		}
		if r.name == "MECHANISM" {
			r.choices = append(r.choices, further...)
		}
		if r.choices != nil {
			p.OneOf(r.name, *r.value.(*string), r.choices...)
		}
		if r.wrong != nil {
			p.Break(r.name, "%w", r.wrong)
		}
	}
}

// unless returns an error that the format describes, unless ok.
func unless(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

func within[T int | uint64 | float64](x, least, most T) error {
	return unless(x >= least && x <= most, "%v: not within %v to %v", x, least, most)
}

var (
	deploymentName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,200}$`)
	topicName      = regexp.MustCompile(`^[A-Za-z0-9._-]{1,249}$`) // Kafka's rule, besides . and ..
)

func wrongName(text string) error {
	return unless(deploymentName.MatchString(text),
		"%s: not 1 to 200 letters, digits, dots, underscores and hyphens", shown(text))
}

func wrongTopic(text string) error {
	return unless(topicName.MatchString(text) && text != "." && text != "..",
		"%s: not 1 to 249 letters, digits, dots, underscores and hyphens, which names of topics have", shown(text))
}

func wrongBrokers(brokers []string) error {
	for _, broker := range brokers {
		if host, port, err := net.SplitHostPort(broker); err != nil || host == "" || port == "" {
			return fmt.Errorf("%s: not host:port", shown(broker))
		}
	}
	return nil
}

func wrongAddress(text string) error {
	_, _, err := net.SplitHostPort(text)
	return unless(err == nil, "%s: not host:port", shown(text))
}

func wrongTokenURL(text string) error {
	at, err := url.Parse(text)
	return unless(err == nil && at.Host != "" && at.User == nil &&
		(at.Scheme == "https" || at.Scheme == "http" && isLoopback(at.Hostname())), "must be an https URL without a user name; http is allowed for loopback alone, because the secret is sent to this URL")
}

func wrongRegistry(text string) error {
	at, err := url.Parse(text)
	return unless(err == nil && (at.Scheme == "http" || at.Scheme == "https") && at.Host != "" && at.User == nil,
		"not the http or https URL of a registry, without a user: ORIEL_SCHEMA_REGISTRY_USER names one")
}

func wrongAfterStream(text string) error {
	_, err := strconv.ParseUint(text, 10, 31)
	return unless(err == nil || text == deployment.NoStream, "%s: neither a partition nor none", shown(text))
}

func wrongUserID(text string) error {
	header, isHeader := strings.CutPrefix(text, byHeader)
	return unless(text == byKey || isHeader && header != "", "%s: not key or header:NAME", shown(text))
}

func wrongSchemaIDs(texts []string) error {
	for _, text := range texts {
		if _, _, err := recordschema.ParseID(text); err != nil {
			return err
		}
	}
	return nil
}

func wrongRanges(text string) error {
	_, err := event.ParseRanges(text)
	return err
}

// shown returns a value in the form in which errors show it: quoted, and cut if it is long.
func shown(value string) string { return text.Shown([]byte(value)) }
