package settings

import (
	"math"
	"net"
	"net/url"
	"regexp"
	"strings"

	"oriel/cmd/internal/recordschema"
	"oriel/mechanisms"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/pipeline/deployment"
	"oriel/schemas"
)

var (
	deploymentName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,200}$`)
	topicName      = regexp.MustCompile(`^[A-Za-z0-9._-]{1,249}$`) // Kafka's rule, besides . and ..
)

// checkValues refuses a value that no command can use, whatever the other settings are. Every command calls it for all
// settings that are set. Rules of settings together are checked by the commands that use them.
func (s Settings) checkValues(p *operators.Problems, given map[string]string, further []string) {
	value := func(name string, ok bool, format string, args ...any) {
		if given[prefix+name] != "" && !ok {
			p.Break(name, format, args...)
		}
	}
	word := func(name, text string, words ...string) {
		if given[prefix+name] != "" {
			p.OneOf(name, text, words...)
		}
	}
	s.checkPlaces(value)
	word("SASL_MECHANISM", s.SASLMechanism, "plain", "scram-sha-256", "scram-sha-512", oauthBearer)
	word("STREAM", s.Stream, wholeTopic, eachPartition)
	word("SEQUENCER", s.Sequencer, ownSequencer, otherSequencer)
	word("LOG_LEVEL", s.LogLevel, "debug", "info", "warn", "error")
	word("LOG_FORMAT", s.LogFormat, "logfmt", "json")
	word("ADJACENCY", s.Adjacency, "replace", "zero-out")
	word("FORMAT", s.Format, recordschema.JSON, recordschema.Avro, recordschema.Protobuf)
	word("FRAMING", s.Framing, recordschema.Plain, recordschema.Confluent, recordschema.CloudEvents)
	word("DECISIONS_FORMAT", s.DecisionsFormat, schemas.Encodings[:]...)
	word("FEATURES_NORM", s.FeaturesNorm, "unit", "none")
	word("UNKNOWN", s.Unknown, unknownIgnored, unknownNull)
	word("MECHANISM", s.Mechanism, append(append(mechanisms.Names(), mechanisms.ExponentialMechanism), further...)...)

	value("COMMIT_INTERVAL", s.CommitInterval >= 1e6 && s.CommitInterval <= 60e9,
		"%v: not within 1ms to 1m", s.CommitInterval)
	value("SESSION_TIMEOUT", s.SessionTimeout >= 1e9 && s.SessionTimeout <= 1800e9,
		"%v: not within 1s to 30m", s.SessionTimeout)
	value("MEMORY_LIMIT", s.MemoryLimit >= int(deployment.LeastMemory) && s.MemoryLimit <= int(deployment.MostMemory),
		"%d: not within %d to %d", s.MemoryLimit, deployment.LeastMemory, deployment.MostMemory)
	value("DECISION_GAUGES", s.DecisionGauges <= 1000, "%d: not within 0 to 1000", s.DecisionGauges)
	value("BATCH", s.Batch >= 1 && s.Batch <= 1<<31, "%d: not within 1 to 2147483648", s.Batch)
	value("AGE_WEIGHT", s.AgeWeight >= 0 && s.AgeWeight <= 1, "%g: not within 0 to 1", s.AgeWeight)
	value("POLES", s.Poles == 0 || s.Poles >= 2 && s.Poles <= 4, "%d: not 0, 2, 3 or 4", s.Poles)
	value("WINDOW", s.steps() > 0 || s.Window == horizon || s.Window == lifetime,
		"%s: not a number of steps above 0, horizon or lifetime", shown(s.Window))
	value("MEMORY", s.Memory == 0 || s.Memory >= decay.MinMemory && s.Memory <= decay.MaxMemory,
		"%d: not within %d to %d", s.Memory, decay.MinMemory, decay.MaxMemory)
	value("EPSILON", s.Epsilon > 0, "%g: not positive", s.Epsilon)
	value("DELTA", s.Delta >= 0 && s.Delta < 1, "%g: not from 0 to 1", s.Delta)
	header, isHeader := strings.CutPrefix(s.UserID, byHeader)
	value("USER_ID", s.UserID == byKey || isHeader && header != "", "%s: not key or header:NAME", shown(s.UserID))
	value("USER_WINDOW", s.UserWindow <= protection.MaxAmong,
		"%d: above %d", s.UserWindow, uint64(protection.MaxAmong))
	value("DECISIONS_SCHEMA_ID", s.DecisionsSchemaID <= math.MaxInt32,
		"%d: not within 0 to 2147483647", s.DecisionsSchemaID)
	value("MAX_RECORD_BYTES", s.MaxRecordBytes >= 1 && s.MaxRecordBytes <= 100<<20,
		"%d: not within 1 to 104857600", s.MaxRecordBytes)
	for _, text := range s.SchemaIDs {
		_, _, err := recordschema.ParseID(text)
		value("SCHEMA_IDS", err == nil, "%w", err)
	}
	_, err := schemas.ParseRanges(s.FeaturesRange)
	value("FEATURES_RANGE", err == nil, "%w", err)
}

// checkPlaces is checkValues for names and addresses.
func (s Settings) checkPlaces(value func(name string, ok bool, format string, args ...any)) {
	for _, broker := range s.Brokers {
		host, port, err := net.SplitHostPort(broker)
		value("BROKERS", err == nil && host != "" && port != "", "%s: not host:port", shown(broker))
	}
	_, _, err := net.SplitHostPort(s.HTTPAddr)
	value("HTTP_ADDR", err == nil, "%s: not host:port", shown(s.HTTPAddr))
	value("NAME", deploymentName.MatchString(s.Name), "%s: not 1 to 200 letters, digits, dots, underscores and hyphens", shown(s.Name))
	for _, f := range []struct{ name, text string }{
		{"INPUT_TOPIC", s.InputTopic},
		{"DECISION_TOPIC", s.DecisionTopic},
		{"SECOND_TOPIC", s.SecondTopic},
		{"VERDICTS_TOPIC", s.VerdictsTopic},
		{"CHANGELOG_TOPIC", s.ChangelogTopic},
		{"ORDER_TOPIC", s.OrderTopic},
		{"DEAD_LETTER_TOPIC", s.DeadLetterTopic},
		{"DESCRIPTOR_TOPIC", s.DescriptorTopic},
	} {
		value(f.name, topicName.MatchString(f.text) && f.text != "." && f.text != "..",
			"%s: not 1 to 249 letters, digits, dots, underscores and hyphens, which names of topics have", shown(f.text))
	}
	at, err := url.Parse(s.OAuthTokenURL)
	value("OAUTH_TOKEN_URL", err == nil && at.Host != "" && at.User == nil &&
		(at.Scheme == "https" || at.Scheme == "http" && isLoopback(at.Hostname())), "must be an https URL without a user name; http is allowed for loopback alone, because the secret is sent to this URL")
	at, err = url.Parse(s.SchemaRegistry)
	web := err == nil && (at.Scheme == "http" || at.Scheme == "https")
	value("SCHEMA_REGISTRY", web && at.Host != "" && at.User == nil,
		"not the http or https URL of a registry, without a user: ORIEL_SCHEMA_REGISTRY_USER names one")
}

// shown returns a value in the form in which errors show it: quoted, and cut if it is long.
func shown(value string) string { return schemas.Shown([]byte(value)) }
