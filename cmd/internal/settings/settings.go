package settings

import (
	"crypto/sha256"
	"time"

	"oriel/cmd/internal/recordschema"
	"oriel/operators"
	"oriel/pipeline/deployment"
	"oriel/schemas/mapping"
)

const prefix = operators.Prefix

// Settings holds the variables as given: the settings that every operator has, and the chosen operator with its own
// settings. Its struct tags are env, the name without ORIEL_; envDefault, the default; unit, range and text, the
// columns of the table; and need, the group that requires the setting.
type Settings struct {
	Brokers          []string      `env:"BROKERS" need:"kafka" unit:"host:port,…" range:"at least one" text:"Kafka brokers to start from"`
	TLS              bool          `env:"TLS" envDefault:"false" unit:"bool" text:"encrypt connections to the brokers"`
	TLSCAFile        string        `env:"TLS_CA_FILE" unit:"file" text:"PEM certificates of the authorities that sign the brokers' certificates; the system's when empty"`
	TLSCertFile      string        `env:"TLS_CERT_FILE" unit:"file" text:"PEM client certificate"`
	TLSKeyFile       string        `env:"TLS_KEY_FILE" unit:"file" text:"PEM key of the client certificate"`
	SASLMechanism    string        `env:"SASL_MECHANISM" unit:"name" range:"plain, scram-sha-256, scram-sha-512, oauthbearer" text:"mechanism to log in to the brokers; no login when empty"`
	SASLUser         string        `env:"SASL_USER" unit:"name" text:"user to log in as"`
	SASLPasswordFile string        `env:"SASL_PASSWORD_FILE" unit:"file" range:"mode as ORIEL_MASTER_KEY_FILE" text:"file with the password, one line; refused if others may read the file"`
	OAuthTokenURL    string        `env:"OAUTH_TOKEN_URL" unit:"URL" range:"https; http on loopback" text:"oauthbearer: token endpoint, asked by client credentials (RFC 6749, 4.4)"`
	OAuthClientID    string        `env:"OAUTH_CLIENT_ID" unit:"name" text:"client that asks for tokens"`
	OAuthSecretFile  string        `env:"OAUTH_CLIENT_SECRET_FILE" unit:"file" range:"mode as ORIEL_MASTER_KEY_FILE" text:"file with the client's secret, one line, read again for each token"`
	OAuthScope       string        `env:"OAUTH_SCOPE" unit:"names" text:"scopes to ask for, separated by spaces; the server's default when empty"`
	OAuthCAFile      string        `env:"OAUTH_CA_FILE" unit:"file" text:"PEM certificates of the authorities that sign the token endpoint's certificate; the system's when empty"`
	OAuthTokenFile   string        `env:"OAUTH_TOKEN_FILE" unit:"file" range:"mode as ORIEL_MASTER_KEY_FILE" text:"oauthbearer without a token endpoint: file with the token, one line, read again at each login"`
	Name             string        `env:"NAME" need:"deployment" unit:"name" range:"letters, digits, . _ -" text:"deployment name: part of topic names and transactional ids"`
	InputTopic       string        `env:"INPUT_TOPIC" need:"deployment" unit:"topic" text:"events to read; must not be compacted"`
	Stream           string        `env:"STREAM" unit:"name" range:"topic, partition" text:"topic: all partitions of the input are one stream. partition (as when empty): each partition is an independent stream. See deploy/OPERATING.md"`
	DecisionTopic    string        `env:"DECISION_TOPIC" unit:"topic" text:"decisions; <name>.decisions when empty"`
	SecondTopic      string        `env:"SECOND_TOPIC" unit:"topic" text:"second topic of decisions, for fewer readers than the first; only some operators have one; <name>.<its suffix> when empty"`
	VerdictsTopic    string        `env:"VERDICTS_TOPIC" unit:"topic" text:"sealed verdicts, one byte for each offset of the input; <name>.verdicts when empty"`
	ChangelogTopic   string        `env:"CHANGELOG_TOPIC" unit:"topic" text:"sealed state; <name>.changelog when empty"`
	OrderTopic       string        `env:"ORDER_TOPIC" unit:"topic" text:"with ORIEL_STREAM=topic, the order in which partitions of the input are taken; <name>.order when empty"`
	Sequencer        string        `env:"SEQUENCER" unit:"name" range:"own, other" text:"with ORIEL_STREAM=topic, the writer of the order. own (as when empty): the process that has the stream. other: a process that runs oriel order"`
	DeadLetterTopic  string        `env:"DEAD_LETTER_TOPIC" unit:"topic" text:"records that were replaced by null events; <name>.dead-letter when empty"`
	DescriptorTopic  string        `env:"DESCRIPTOR_TOPIC" unit:"topic" text:"description that consumers of decisions need (settings of vectors, names of coordinates), one record; only some operators have it; <name>.descriptor when empty"`
	MasterKeyFile    string        `env:"MASTER_KEY_FILE" need:"deployment" unit:"file" range:"64 hex digits; its group may read it, others may not: mode 0400, 0440, 0600 or 0640" text:"key that wraps the keys of sealed state; or ORIEL_MASTER_KEY_COMMAND prints it"`
	MasterKeyCommand string        `env:"MASTER_KEY_COMMAND" unit:"command" range:"a program and its arguments, separated by spaces; no shell" text:"prints the key in place of ORIEL_MASTER_KEY_FILE, within 30 s and with exit code 0: age, sops, vault; nothing that it writes is logged"`
	SingleReplica    bool          `env:"ALLOW_SINGLE_REPLICA" envDefault:"false" unit:"bool" text:"accept fewer than 3 replicas or 2 in sync: one lost broker can then lose acknowledged records, and with them the guarantee"`
	Group            string        `env:"GROUP" unit:"name" text:"consumer group; the deployment name when empty"`
	LettersGroup     string        `env:"LETTERS_GROUP" unit:"name" text:"consumer group of oriel letters; <name>.letters when empty"`
	Start            string        `env:"START" need:"service" unit:"name" range:"earliest, latest, or a file" text:"where the first incarnation of a partition starts; later ones start where the last ended. A file has a line topic,partition,offset for each partition, as oriel end writes them"`
	StateDir         string        `env:"STATE_DIR" need:"service" unit:"directory" text:"folder of the embedded store (Pebble), one for each process; a cache of the changelog"`
	CommitInterval   time.Duration `env:"COMMIT_INTERVAL" envDefault:"100ms" unit:"duration" range:"1ms to 1m" text:"time between transactions of a busy partition"`
	SessionTimeout   time.Duration `env:"SESSION_TIMEOUT" envDefault:"6s" unit:"duration" range:"the broker's limits, 6s to 30m by default" text:"a member that is silent for this long loses its partitions"`
	MemoryLimit      int           `env:"MEMORY_LIMIT" envDefault:"134217728" unit:"bytes" range:"83886080 to 1099511627776" text:"greatest size of fetched events and computed decisions in the process. It never changes a decision"`
	HTTPAddr         string        `env:"HTTP_ADDR" envDefault:"127.0.0.1:9464" unit:"host:port" text:"address of the page, /metrics, /healthz and /readyz"`
	LogLevel         string        `env:"LOG_LEVEL" envDefault:"info" unit:"name" range:"debug, info, warn, error" text:"lowest level that is logged"`
	LogFormat        string        `env:"LOG_FORMAT" envDefault:"logfmt" unit:"name" range:"logfmt, json" text:"format of log lines"`
	RuntimeMetrics   bool          `env:"RUNTIME_METRICS" envDefault:"false" unit:"bool" text:"also export Go and process metrics; memory and CPU use depend on the contents of events, so this leaks"`

	DecisionGauges int `env:"DECISION_GAUGES" envDefault:"0" unit:"coordinates" range:"0 to 1000" text:"number of coordinates (aggregate: numbers) of each stream's newest decision in /metrics; at most 1000 series for each process"`

	Operator string `env:"OPERATOR" need:"operator" unit:"name" text:"algorithm; each has further settings, in a table of its own"`
	Rounds   uint64 `env:"ROUNDS" envDefault:"0" unit:"steps" range:"≥ 1 for llo with proved constants" text:"T: number of steps for which the accuracy bound and the constants hold (llo, bandit); 0: unknown. With ORIEL_WINDOW=horizon, T is ORIEL_HORIZON"`
	Batch    uint64 `env:"BATCH" envDefault:"1" unit:"events" range:"1 to 2147483648" text:"number of events in a step"`

	Mechanism string  `env:"MECHANISM" need:"operator" unit:"name" range:"blt, tree-gaussian, tree-gamma, tree-laplace, once-gaussian, once-gamma, draws" text:"private running sum; once-gaussian and once-gamma release each step's own sum instead, for ORIEL_UPDATE=ogd; draws releases none, for ORIEL_RULE=draws with ORIEL_WINDOW=horizon"`
	AgeWeight float64 `env:"AGE_WEIGHT" envDefault:"0.3" unit:"weight" range:"0 to 1" text:"blt: weight of the loss of events beyond the window against the error, when the filter is fitted; 0 with ORIEL_WINDOW=horizon or lifetime"`
	Poles     int     `env:"POLES" envDefault:"0" unit:"poles" range:"0, 2, 3, 4" text:"blt: number of poles of the filter, and of buffers in its state; 0: chosen automatically, as always with ORIEL_MEMORY"`
	Window    string  `env:"WINDOW" need:"operator" unit:"steps" range:"≥ 1; a power of two for trees; at most 4194304 for blt; horizon; lifetime" text:"W: the newest W steps are protected. horizon: all ORIEL_HORIZON steps, for ever; then the stream ends. lifetime: each event, for ever"`
	Horizon   uint64  `env:"HORIZON" envDefault:"0" unit:"steps" range:"≥ 1 with ORIEL_WINDOW=horizon, which needs it" text:"number of steps after which each stream ends"`
	Memory    uint64  `env:"MEMORY" envDefault:"0" unit:"steps" range:"2 to 1048576 with ORIEL_WINDOW=lifetime and blt" text:"H: sums decay. After each step, the weight of every earlier step shrinks by the factor 1 − 1/H. Choose how far back events are worth learning from"`
	Epsilon   float64 `env:"EPSILON" need:"operator" unit:"nats" range:"> 0" text:"ε of one window, or for ever where there is none"`
	Delta     float64 `env:"DELTA" unit:"probability" range:"above 0, below 1; any for pure-ε mechanisms" text:"δ of one window; choose it well below 1/(events in the window)"`
	Adjacency string  `env:"ADJACENCY" envDefault:"replace" unit:"name" range:"replace, zero-out" text:"neighbouring streams: one event exchanged for any other (sensitivity at most 2L), or for the null event (at most L); oriel plan prints it"`

	UserID         string `env:"USER_ID" unit:"name" range:"key, header:NAME" text:"user level: the place of the user id in a record. All events of a user are protected together. Key the input by user"`
	UserSeparation uint64 `env:"USER_SEPARATION" envDefault:"0" unit:"steps" range:"≥ 1 with ORIEL_USER_ID; times the batch at most 131072" text:"user level: an event closer than this to the last accepted event of its user becomes a null event"`
	UserWindow     uint64 `env:"USER_WINDOW" envDefault:"0" unit:"steps" range:"1 to 1099511627776 with ORIEL_USER_ID and ORIEL_MEMORY, which need it" text:"user level with a memory: all events of a user within this many consecutive steps are protected together, for ever"`

	Format                     string   `env:"FORMAT" envDefault:"json" unit:"name" range:"json, avro, protobuf" text:"encoding of events"`
	Framing                    string   `env:"FRAMING" unit:"name" range:"plain, confluent, cloudevents" text:"framing of the event in a record. plain (as when empty): none. confluent: a schema id. cloudevents: a CloudEvent in structured mode"`
	SchemaFile                 string   `env:"SCHEMA_FILE" unit:"file" range:"of avro an .avsc; of protobuf a .proto, with imports beside it, or a FileDescriptorSet" text:"schema of records; without ORIEL_MAP it has the members of an event under their own names, and features as a record"`
	SchemaMessage              string   `env:"SCHEMA_MESSAGE" unit:"name" range:"with its package" text:"protobuf: message type of records; not needed if the file has only one message"`
	SchemaIDs                  []string `env:"SCHEMA_IDS" unit:"id[=file],…" range:"0 to 4294967295" text:"with ORIEL_FRAMING=confluent: ids that records may name, each of ORIEL_SCHEMA_FILE or of another file; any other id makes a null event"`
	SchemaRegistry             string   `env:"SCHEMA_REGISTRY" unit:"URL" range:"http or https" text:"with ORIEL_FRAMING=confluent: the registry whose schemas oriel topics and oriel schema pull freeze; oriel run only compares ids with it, once an hour. deploy/FORMATS.md"`
	SchemaSubject              string   `env:"SCHEMA_SUBJECT" unit:"name" text:"subject in the registry with the schema versions of the records; <input topic>-value when empty"`
	SchemaRegistryUser         string   `env:"SCHEMA_REGISTRY_USER" unit:"name" text:"user to log in as at the registry; none when empty"`
	SchemaRegistryPasswordFile string   `env:"SCHEMA_REGISTRY_PASSWORD_FILE" unit:"file" range:"mode as ORIEL_MASTER_KEY_FILE" text:"file with the password, one line"`
	SchemaRegistryCAFile       string   `env:"SCHEMA_REGISTRY_CA_FILE" unit:"file" text:"PEM certificates of the authorities that sign the registry's certificate; the system's when empty"`
	DecisionsFormat            string   `env:"DECISIONS_FORMAT" envDefault:"json" unit:"name" range:"json, protobuf, avro" text:"encoding of decisions: a line of JSON, or shorter and faster, schemas/decision.proto or schemas/decision.avsc. oriel tail reads all three"`
	DecisionsSchemaID          uint64   `env:"DECISIONS_SCHEMA_ID" envDefault:"0" unit:"id" range:"0 to 2147483647; with ORIEL_DECISIONS_FORMAT=protobuf or avro" text:"id in Confluent's header of decisions; 0: no header. Not set: with ORIEL_SCHEMA_REGISTRY, oriel topics registers the schema"`
	MaxRecordBytes             int      `env:"MAX_RECORD_BYTES" envDefault:"1048576" unit:"bytes" range:"1 to 104857600" text:"a longer record becomes a null event"`
	Map                        string   `env:"MAP" unit:"JSON or file" range:"1 to 1048576 bytes" text:"mapping from your records to members of events: a JSON object, or a file with one. See deploy/MAPPING.md"`
	Unknown                    string   `env:"UNKNOWN" unit:"name" range:"ignore, null" text:"effect of unknown members. ignore (as when empty with ORIEL_MAP): the member is ignored. null (as when empty without): the record is a null event"`
	FeaturesBias               bool     `env:"FEATURES_BIAS" envDefault:"true" unit:"bool" text:"named features: add a constant 1"`
	FeaturesNorm               string   `env:"FEATURES_NORM" envDefault:"unit" unit:"name" range:"unit, none" text:"named features: scale the hashed vector to norm 1, or leave it"`
	FeaturesRange              string   `env:"FEATURES_RANGE" unit:"name:low:high[:cyclic],…" text:"named features: public ranges of numbers, mapped to [0, 1] or to a sine and cosine"`

	offsets   deployment.Offsets   // contents of the file in ORIEL_START; nil: it names no file
	schema    *recordschema.Schema // nil: records are JSON
	schemaIDs []schemaID           // schema ids of Confluent's framing
	lines     bool                 // events are lines of JSON instead of records
	namesID   bool                 // ORIEL_DECISIONS_SCHEMA_ID is set
	mapping   *mapping.Mapping     // nil: events have the operator's own form
	mapText   string               // document of ORIEL_MAP without white space around it; "": none
	mapDigest [sha256.Size]byte
	values    *operators.Values  // settings of the operator
	events    operators.Events   // settings of the groups Events and Operator
	eventsOf  string             // name of the operator that values belongs to
	operator  operators.Operator // set if the group Operator is loaded; otherwise nil
}

// later maps reserved variables to the features to which they belong. This version lacks these features. It refuses the
// variables with an error that names the feature.
var later = map[string]string{
	"LEDGER_TOPIC":    "the ledger across deployments",
	"STREAM_KEYS":     "streams by key",
	"EPSILON_CEILING": "the ledger across deployments",
	"ESCROW_KEY_FILE": "escrowed secrets",
	"HTTP_TOKEN_FILE": "a token that guards the HTTP server",
}
