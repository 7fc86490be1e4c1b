package settings

import (
	"cmp"
	"math"
	"slices"

	"oriel/cmd/internal/recordschema"
	"oriel/cmd/internal/settings/connection"
	"oriel/cmd/internal/settings/records"
	"oriel/cmd/internal/settings/values"
	"oriel/mechanisms"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/protection"
	"oriel/pipeline/deployment"
	"oriel/pipeline/notice"
	"oriel/schemas/decision"
)

// rows returns the table of the settings that every operator has, bound to the fields of s: what a row says of its
// value holds for the present value. The order is that of the tables that users read.
func (s *Settings) rows() []row {
	return slices.Concat(s.connectionRows(), s.deploymentRows(), s.serviceRows(), s.privacyRows(), s.recordsRows())
}

// connectionRows has the settings of the connection to the brokers.
func (s *Settings) connectionRows() []row {
	return []row{
		{
			name: "BROKERS", value: &s.Brokers, need: Kafka, wrong: values.Brokers(s.Brokers),
			unit: "host:port,…", limits: "at least one", text: "Kafka brokers to start from",
		},
		{name: "TLS", value: &s.TLS, unit: "bool", initial: "false", text: "encrypt connections to the brokers"},
		{name: "TLS_CA_FILE", value: &s.TLSCAFile, unit: "file", text: "PEM certificates of the authorities that sign the brokers' certificates; the system's when empty"},
		{name: "TLS_CERT_FILE", value: &s.TLSCertFile, unit: "file", text: "PEM client certificate"},
		{name: "TLS_KEY_FILE", value: &s.TLSKeyFile, unit: "file", text: "PEM key of the client certificate"},
		{
			name: "SASL_MECHANISM", value: &s.SASLMechanism,
			unit: "name", choices: []string{"plain", "scram-sha-256", "scram-sha-512", connection.OAuthBearer},
			text: "mechanism to log in to the brokers; no login when empty",
		},
		{name: "SASL_USER", value: &s.SASLUser, unit: "name", text: "user to log in as"},
		{name: "SASL_PASSWORD_FILE", value: &s.SASLPasswordFile, unit: "file", limits: "mode as ORIEL_MASTER_KEY_FILE", text: "file with the password, one line; refused if others may read the file"},
		{name: "OAUTH_TOKEN_URL", value: &s.OAuthTokenURL, wrong: values.TokenURL(s.OAuthTokenURL), unit: "URL", limits: "https; http on loopback", text: "oauthbearer: token endpoint, asked by client credentials (RFC 6749, 4.4)"},
		{name: "OAUTH_CLIENT_ID", value: &s.OAuthClientID, unit: "name", text: "client that asks for tokens"},
		{name: "OAUTH_CLIENT_SECRET_FILE", value: &s.OAuthSecretFile, unit: "file", limits: "mode as ORIEL_MASTER_KEY_FILE", text: "file with the client's secret, one line, read again for each token"},
		{name: "OAUTH_SCOPE", value: &s.OAuthScope, unit: "names", text: "scopes to ask for, separated by spaces; the server's default when empty"},
		{name: "OAUTH_CA_FILE", value: &s.OAuthCAFile, unit: "file", text: "PEM certificates of the authorities that sign the token endpoint's certificate; the system's when empty"},
		{name: "OAUTH_TOKEN_FILE", value: &s.OAuthTokenFile, unit: "file", limits: "mode as ORIEL_MASTER_KEY_FILE", text: "oauthbearer without a token endpoint: file with the token, one line, read again at each login"},
	}
}

// deploymentRows has the settings of a deployment: its name, its topics and its key.
func (s *Settings) deploymentRows() []row {
	return []row{
		{
			name: "NAME", value: &s.Name, need: Deployment, wrong: values.Name(s.Name),
			unit: "name", limits: "letters, digits, . _ -", text: "deployment name: part of topic names and transactional ids",
		},
		{
			name: "INPUT_TOPIC", value: &s.InputTopic, need: Deployment, wrong: values.Topic(s.InputTopic),
			unit: "topic", text: "events to read; must not be compacted",
		},
		{name: "STREAM", value: &s.Stream, frozen: cmp.Or(s.Stream, eachPartition), unit: "name", choices: []string{wholeTopic, eachPartition}, text: "topic: all partitions of the input are one stream. partition (as when empty): each partition is an independent stream. See deploy/OPERATING.md"},
		{
			name: "DECISION_TOPIC", value: &s.DecisionTopic, wrong: values.Topic(s.DecisionTopic),
			unit: "topic", text: "decisions; <name>.decisions when empty",
		},
		{name: "SECOND_TOPIC", value: &s.SecondTopic, wrong: values.Topic(s.SecondTopic), unit: "topic", text: "second topic of decisions, for fewer readers than the first; only some operators have one; <name>.<its suffix> when empty"},
		{name: "VERDICTS_TOPIC", value: &s.VerdictsTopic, wrong: values.Topic(s.VerdictsTopic), unit: "topic", text: "sealed verdicts, one byte for each offset of the input; <name>.verdicts when empty"},
		{
			name: "CHANGELOG_TOPIC", value: &s.ChangelogTopic, wrong: values.Topic(s.ChangelogTopic),
			unit: "topic", text: "sealed state; <name>.changelog when empty",
		},
		{name: "ORDER_TOPIC", value: &s.OrderTopic, wrong: values.Topic(s.OrderTopic), unit: "topic", text: "with ORIEL_STREAM=topic, the order in which partitions of the input are taken; <name>.order when empty"},
		{name: "SEQUENCER", value: &s.Sequencer, unit: "name", choices: []string{ownSequencer, otherSequencer}, text: "with ORIEL_STREAM=topic, the writer of the order. own (as when empty): the process that has the stream. other: a process that runs oriel order"},
		{name: "DEAD_LETTER_TOPIC", value: &s.DeadLetterTopic, wrong: values.Topic(s.DeadLetterTopic), unit: "topic", text: "records that were replaced by null events; <name>.dead-letter when empty"},
		{name: "DESCRIPTOR_TOPIC", value: &s.DescriptorTopic, wrong: values.Topic(s.DescriptorTopic), unit: "topic", text: "description that consumers of decisions need (settings of vectors, names of coordinates), one record; only some operators have it; <name>.descriptor when empty"},
		{name: "MASTER_KEY_FILE", value: &s.MasterKeyFile, need: Deployment, unit: "file", limits: "64 hex digits; its group may read it, others may not: mode 0400, 0440, 0600 or 0640", text: "key that wraps the keys of sealed state; or ORIEL_MASTER_KEY_COMMAND prints it"},
		{name: "MASTER_KEY_COMMAND", value: &s.MasterKeyCommand, unit: "command", limits: "a program and its arguments, separated by spaces; no shell", text: "prints the key in place of ORIEL_MASTER_KEY_FILE, within 30 s and with exit code 0: age, sops, vault; nothing that it writes is logged"},
		{name: "ALLOW_SINGLE_REPLICA", value: &s.SingleReplica, unit: "bool", initial: "false", text: "accept fewer than 3 replicas or 2 in sync: one lost broker can then lose acknowledged records, and with them the guarantee"},
		{name: "GROUP", value: &s.Group, unit: "name", text: "consumer group; the deployment name when empty"},
		{
			name: "LETTERS_GROUP", value: &s.LettersGroup,
			unit: "name", text: "consumer group of oriel letters; <name>.letters when empty",
		},
		{name: "START", value: &s.Start, need: Service, unit: "name or file", limits: "earliest, latest, or a file; with ORIEL_STEP latest or a time", text: "where the first incarnation of a partition starts; later ones start where the last ended. A file has a line topic,partition,offset for each partition, as oriel end writes it. With ORIEL_STEP the first step contains the moment of opening, or a time such as 2026-11-01T00:00:00Z"},
	}
}

// serviceRows has the settings of the service.
func (s *Settings) serviceRows() []row {
	return []row{
		{name: "STATE_DIR", value: &s.StateDir, need: Service, unit: "directory", text: "folder of the embedded store (Pebble), one for each process; a cache of the changelog"},
		{
			name: "COMMIT_INTERVAL", value: &s.CommitInterval, wrong: values.Unless(s.CommitInterval >= 1e6 && s.CommitInterval <= 60e9, "%v: not within 1ms to 1m", s.CommitInterval),
			unit: "duration", limits: "1ms to 1m", initial: "100ms", text: "time between transactions of a busy partition",
		},
		{
			name: "SESSION_TIMEOUT", value: &s.SessionTimeout, wrong: values.Unless(s.SessionTimeout >= 1e9 && s.SessionTimeout <= 1800e9, "%v: not within 1s to 30m", s.SessionTimeout),
			unit: "duration", limits: "the broker's limits, 6s to 30m by default", initial: "6s",
			text: "a member that is silent for this long loses its partitions",
		},
		{name: "MEMORY_LIMIT", value: &s.MemoryLimit, wrong: values.Within(s.MemoryLimit, int(deployment.LeastMemory), int(deployment.MostMemory)), unit: "bytes", limits: "83886080 to 1099511627776", initial: "134217728", text: "greatest size of fetched events and computed decisions in the process. It never changes a decision"},
		{
			name: "HTTP_ADDR", value: &s.HTTPAddr, wrong: values.Address(s.HTTPAddr),
			unit: "host:port", initial: "127.0.0.1:9464", text: "address of the page, /metrics, /healthz and /readyz",
		},
		{
			name: "LOG_LEVEL", value: &s.LogLevel,
			unit: "name", choices: []string{"debug", "info", "warn", "error"}, initial: "info",
			text: "lowest level that is logged",
		},
		{
			name: "LOG_FORMAT", value: &s.LogFormat,
			unit: "name", choices: []string{"logfmt", "json"}, initial: "logfmt", text: "format of log lines",
		},
		{name: "METRICS", value: &s.Metrics, unit: "name", choices: []string{string(notice.Readers), string(notice.Operators)}, text: "who sees /metrics, the page, /readyz and the log. readers (as when empty with ORIEL_STEP): nothing there depends on records but through decisions. operators (as when empty with ORIEL_BATCH): also lag, counts and waits of records, which readers of decisions must not see where steps follow the clock"},
		{name: "RUNTIME_METRICS", value: &s.RuntimeMetrics, unit: "bool", initial: "false", text: "also export Go and process metrics; memory and CPU use depend on the contents of events, so this leaks"},
		{name: "DECISION_GAUGES", value: &s.DecisionGauges, wrong: values.Within(s.DecisionGauges, 0, 1000), unit: "coordinates", limits: "0 to 1000", initial: "0", text: "number of coordinates (aggregate: numbers) of each stream's newest decision in /metrics; at most 1000 series for each process"},
	}
}

// privacyRows has the settings of learning and privacy.
func (s *Settings) privacyRows() []row {
	filters := s.Facts().Filters()
	return []row{
		{
			name: "OPERATOR", value: &s.Operator, need: Operator, decodes: true, frozen: s.Operator,
			unit: "name", text: "algorithm; each has further settings, in a table of its own",
		},
		{name: "ROUNDS", value: &s.Rounds, unit: "steps", limits: "≥ 1 for llo with proved constants", initial: "0", text: "T: number of steps for which the accuracy bound and the constants hold (llo, bandit); 0: unknown. With ORIEL_WINDOW=horizon, T is ORIEL_HORIZON"},
		{
			name: "BATCH", value: &s.Batch, frozen: s.Batch, wrong: values.Within(s.Batch, 1, 1<<31),
			unit: "events", limits: "1 to 2147483648", initial: "1", text: "number of events in a step",
		},
		{name: "STEP", value: &s.Step, frozen: s.Timed(s.Step), wrong: values.Length(s.Step), unit: "duration", limits: "1s to 24h that divides 24h, or whole days", text: "length of a step by the clock, in place of ORIEL_BATCH: boundaries are its multiples since 1970 (UTC). Only with ORIEL_STREAM=topic, and with operators and mechanisms that release each step's own numbers"},
		{name: "STEP_OFFSET", value: &s.StepOffset, frozen: s.Timed(s.StepOffset), unit: "duration", limits: "whole seconds, below ORIEL_STEP or ORIEL_USER_PERIOD", initial: "0s", text: "with ORIEL_STEP: moves the boundaries of steps, and of users' periods. Weeks begin on a Monday with ORIEL_STEP=7d and 4d here"},
		{name: "STEP_GRACE", value: &s.StepGrace, wrong: values.Unless(s.StepGrace >= 1e8 && s.StepGrace <= 3600e9, "%v: not within 100ms to 1h", s.StepGrace), unit: "duration", limits: "100ms to 1h", initial: "2s", text: "with ORIEL_STEP: how long after a second the sequencer waits for its records to reach the brokers, before it closes that second"},
		{name: "STEP_DELAY", value: &s.StepDelay, wrong: values.Unless(s.StepDelay >= 1e9 && s.StepDelay <= 7200e9, "%v: not within 1s to 2h", s.StepDelay), unit: "duration", limits: "1s to 2h, at least 1s above ORIEL_STEP_GRACE", initial: "5s", text: "with ORIEL_STEP: how long after the end of its step each decision is published, so that its time says nothing about events"},
		{
			name: "MECHANISM", value: &s.Mechanism, need: Operator, frozen: s.Mechanism,
			unit: "name", choices: append(mechanisms.Names(), mechanisms.ExponentialMechanism), text: "private running sum; once-gaussian, once-gamma and once-laplace release each step's own sum instead: for ORIEL_UPDATE=ogd the first two, for numbers of each step the first and the last; draws releases none, for ORIEL_RULE=draws with ORIEL_WINDOW=horizon",
		},
		{name: "AGE_WEIGHT", value: &s.AgeWeight, frozen: orEmpty(filters, s.AgeWeight), wrong: values.Within(s.AgeWeight, 0, 1), unit: "weight", limits: "0 to 1", initial: "0.3", text: "blt: weight of the loss of events beyond the window against the error, when the filter is fitted; 0 with ORIEL_WINDOW=horizon or lifetime"},
		{
			name: "POLES", value: &s.Poles, frozen: orEmpty(filters, s.Poles), wrong: values.Unless(s.Poles == 0 || s.Poles >= 2 && s.Poles <= 4, "%d: not 0, 2, 3 or 4", s.Poles),
			unit: "poles", limits: "0, 2, 3, 4", initial: "0", text: "blt: number of poles of the filter, and of buffers in its state; 0: chosen automatically, as always with ORIEL_MEMORY",
		},
		{
			name: "WINDOW", value: &s.Window, need: Operator, frozen: s.WindowText(), wrong: s.WrongWindow(),
			unit: "steps", limits: "≥ 1; a power of two for trees; at most 4194304 for blt; horizon; lifetime", text: "W: the newest W steps are protected. horizon: all ORIEL_HORIZON steps, for ever; then the stream ends. lifetime: each event, for ever",
		},
		{
			name: "HORIZON", value: &s.Horizon, frozen: s.StreamRounds(),
			unit: "steps", limits: "≥ 1 with ORIEL_WINDOW=horizon, which needs it", initial: "0",
			text: "number of steps after which each stream ends",
		},
		{
			name: "MEMORY", value: &s.Memory, frozen: orEmpty(s.Decays(), s.Memory), wrong: values.Unless(s.Memory == 0 || s.Memory >= decay.MinMemory && s.Memory <= decay.MaxMemory, "%d: not within %d to %d", s.Memory, decay.MinMemory, decay.MaxMemory),
			unit: "steps", limits: "2 to 1048576 with ORIEL_WINDOW=lifetime and blt", initial: "0", text: "H: sums decay. After each step, the weight of every earlier step shrinks by the factor 1 − 1/H. Choose how far back events are worth learning from",
		},
		{
			name: "EPSILON", value: &s.Epsilon, need: Operator, frozen: s.Epsilon, wrong: values.Unless(s.Epsilon > 0, "%g: not positive", s.Epsilon),
			unit: "nats", limits: "> 0", text: "ε of one window, or for ever where there is none",
		},
		{name: "DELTA", value: &s.Delta, frozen: s.Delta, wrong: values.Unless(s.Delta >= 0 && s.Delta < 1, "%g: not from 0 to 1", s.Delta), unit: "probability", limits: "above 0, below 1; any for pure-ε mechanisms", text: "δ of one window; it must be well below 1/(events in the window)"},
		{name: "ADJACENCY", value: &s.Adjacency, frozen: s.Adjacency, unit: "name", choices: []string{"replace", "zero-out", "add-remove"}, initial: "replace", text: "neighbouring streams: one event exchanged for any other (sensitivity at most 2L), or for the null event (at most L); with ORIEL_STEP always add-remove: present or absent. oriel plan prints it"},
		{name: "USER_ID", value: &s.UserID, frozen: s.UserID, wrong: values.UserID(s.UserID), unit: "name", limits: "key, header:NAME", text: "user level: the place of the user id in a record. All events of a user are protected together. The input must be keyed by user"},
		{name: "USER_SEPARATION", value: &s.UserSeparation, frozen: orEmpty(s.UserID != "", s.UserSeparation), unit: "steps", limits: "≥ 1 with ORIEL_USER_ID; times the batch at most 131072", initial: "0", text: "user level: an event closer than this to the last accepted event of its user becomes a null event"},
		{
			name: "USER_WINDOW", value: &s.UserWindow, frozen: orEmpty(s.AmongSteps() > 0, s.AmongSteps()), wrong: values.Unless(s.UserWindow <= protection.MaxAmong, "%d: above %d", s.UserWindow, uint64(protection.MaxAmong)),
			unit: "steps", limits: "1 to 1099511627776 with ORIEL_USER_ID and ORIEL_MEMORY, which need it", initial: "0", text: "user level with a memory: all events of a user within this many consecutive steps are protected together, for ever",
		},
		{name: "USER_PERIOD", value: &s.UserPeriod, frozen: s.Timed(s.UserPeriod), wrong: values.Length(s.UserPeriod), unit: "duration", limits: "whole steps; divides 24h, or whole days", text: "user level with ORIEL_STEP, which needs it: all events of a user in one period are protected together, present or absent"},
		{name: "USER_EVENTS", value: &s.UserEvents, frozen: s.Timed(orEmpty(s.UserValues == 0, s.UserEvents)), wrong: values.Within(s.UserEvents, 1, math.MaxUint16), unit: "records", limits: "1 to 65535", initial: "1", text: "user level with ORIEL_STEP: how many records of a user count in a period, the first ones, whether they are events or not"},
	}
}

// recordsRows has the settings of records and decisions.
func (s *Settings) recordsRows() []row {
	return []row{
		{
			name: "FORMAT", value: &s.Format, decodes: true, frozen: s.Format,
			unit: "name", choices: []string{recordschema.JSON, recordschema.Avro, recordschema.Protobuf}, initial: "json", text: "encoding of events",
		},
		{
			name: "FRAMING", value: &s.Framing, decodes: true, frozen: orEmpty(s.Framed(), s.Framing),
			unit: "name", choices: []string{recordschema.Plain, recordschema.Confluent, recordschema.CloudEvents}, text: "framing of the event in a record. plain (as when empty): none. confluent: a schema id. cloudevents: a CloudEvent in structured mode",
		},
		{name: "SCHEMA_FILE", value: &s.SchemaFile, frozen: s.FrozenSchema(), frozenAs: "SCHEMA", unit: "file", limits: "of avro an .avsc; of protobuf a .proto, with imports beside it, or a FileDescriptorSet", text: "schema of records; without ORIEL_MAP it has the members of an event under their own names, and features as a record"},
		{name: "SCHEMA_MESSAGE", value: &s.SchemaMessage, frozen: s.FrozenMessage(), unit: "name", limits: "with its package", text: "protobuf: message type of records; it must be set if the file has several messages"},
		{name: "SCHEMA_IDS", value: &s.SchemaIDs, frozen: s.FrozenIDs(), wrong: values.SchemaIDs(s.SchemaIDs), unit: "id[=file],…", limits: "0 to 4294967295", text: "with ORIEL_FRAMING=confluent: ids that records may name, each of ORIEL_SCHEMA_FILE or of another file; any other id makes a null event"},
		{name: "SCHEMA_REGISTRY", value: &s.SchemaRegistry, wrong: values.Registry(s.SchemaRegistry), unit: "URL", limits: "http or https", text: "with ORIEL_FRAMING=confluent: the registry whose schemas oriel topics and oriel schema pull freeze; oriel run only compares ids with it, once an hour. deploy/FORMATS.md"},
		{name: "SCHEMA_SUBJECT", value: &s.SchemaSubject, frozen: s.FrozenSubject(), unit: "name", text: "subject in the registry with the schema versions of the records; <input topic>-value when empty"},
		{
			name: "SCHEMA_REGISTRY_USER", value: &s.SchemaRegistryUser,
			unit: "name", text: "user to log in as at the registry; none when empty",
		},
		{
			name: "SCHEMA_REGISTRY_PASSWORD_FILE", value: &s.SchemaRegistryPasswordFile,
			unit: "file", limits: "mode as ORIEL_MASTER_KEY_FILE", text: "file with the password, one line",
		},
		{name: "SCHEMA_REGISTRY_CA_FILE", value: &s.SchemaRegistryCAFile, unit: "file", text: "PEM certificates of the authorities that sign the registry's certificate; the system's when empty"},
		{name: "DECISIONS_FORMAT", value: &s.DecisionsFormat, frozen: s.DecisionsFormat, unit: "name", choices: decision.Encodings[:], initial: "json", text: "encoding of decisions: a line of JSON, or shorter and faster, schemas/decision.proto or schemas/decision.avsc. oriel tail reads all three"},
		{
			name: "DECISIONS_SCHEMA_ID", value: &s.DecisionsSchemaID,
			frozen: orEmpty(s.DecisionsSchemaID != 0, s.DecisionsSchemaID),
			wrong:  values.Within(s.DecisionsSchemaID, 0, math.MaxInt32),
			unit:   "id", limits: "0 to 2147483647; with ORIEL_DECISIONS_FORMAT=protobuf or avro", initial: "0", text: "id in Confluent's header of decisions; 0: no header. Not set: with ORIEL_SCHEMA_REGISTRY, oriel topics registers the schema",
		},
		{
			name: "MAX_RECORD_BYTES", value: &s.MaxRecordBytes, decodes: true,
			frozen: s.MaxRecordBytes, wrong: values.Within(s.MaxRecordBytes, 1, 100<<20),
			unit: "bytes", limits: "1 to 104857600", initial: "1048576", text: "a longer record becomes a null event",
		},
		{name: "MAP", value: &s.Map, frozen: s.FrozenMap(), unit: "JSON or file", limits: "1 to 1048576 bytes", text: "mapping from your records to members of events: a JSON object, or a file with one. See deploy/MAPPING.md"},
		{
			name: "UNKNOWN", value: &s.Unknown, decodes: true, frozen: s.FrozenUnknown(),
			unit: "name", choices: []string{records.UnknownIgnored, records.UnknownNull}, text: "effect of unknown members. ignore (as when empty with ORIEL_MAP): the member is ignored. null (as when empty without): the record is a null event",
		},
		{
			name: "FEATURES_BIAS", value: &s.FeaturesBias, decodes: true, frozen: s.FeaturesBias,
			unit: "bool", initial: "true", text: "named features: add a constant 1",
		},
		{name: "FEATURES_NORM", value: &s.FeaturesNorm, decodes: true, frozen: s.FeaturesNorm, unit: "name", choices: []string{"unit", "none"}, initial: "unit", text: "named features: scale the hashed vector to norm 1, or leave it"},
		{name: "FEATURES_RANGE", value: &s.FeaturesRange, decodes: true, frozen: s.FeaturesRange, wrong: values.Ranges(s.FeaturesRange), unit: "name:low:high[:cyclic],…", text: "named features: public ranges of numbers, mapped to [0, 1] or to a sine and cosine"},
	}
}
