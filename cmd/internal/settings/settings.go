package settings

import (
	"crypto/sha256"
	"time"

	"oriel/cmd/internal/recordschema"
	"oriel/operators"
	"oriel/pipeline/deployment"
	"oriel/pipeline/streams"
	"oriel/schemas/event"
	"oriel/schemas/mapping"
)

const prefix = operators.Prefix

// Settings holds the values of the settings that every operator has, and the chosen operator with its own settings.
// rows.go says of each field which variable it has, and what its values are.
type Settings struct {
	Brokers                                      []string
	TLS                                          bool
	TLSCAFile, TLSCertFile, TLSKeyFile           string
	SASLMechanism, SASLUser, SASLPasswordFile    string
	OAuthTokenURL, OAuthClientID, OAuthScope     string
	OAuthSecretFile, OAuthCAFile, OAuthTokenFile string

	Name, InputTopic, DecisionTopic, SecondTopic, VerdictsTopic  string
	ChangelogTopic, OrderTopic, DeadLetterTopic, DescriptorTopic string
	Stream, Sequencer                                            string
	MasterKeyFile, MasterKeyCommand                              string
	SingleReplica                                                bool
	Group, LettersGroup, Start                                   string

	StateDir                       string
	CommitInterval, SessionTimeout time.Duration
	MemoryLimit, DecisionGauges    int
	HTTPAddr, LogLevel, LogFormat  string
	RuntimeMetrics                 bool

	Operator, Mechanism, Window, Adjacency string
	Rounds, Batch, Horizon, Memory         uint64
	AgeWeight, Epsilon, Delta              float64
	Poles                                  int
	UserID                                 string
	UserSeparation, UserWindow             uint64

	Format, Framing, SchemaFile, SchemaMessage        string
	SchemaIDs                                         []string
	SchemaRegistry, SchemaSubject, SchemaRegistryUser string
	SchemaRegistryPasswordFile, SchemaRegistryCAFile  string
	DecisionsFormat                                   string
	DecisionsSchemaID                                 uint64
	MaxRecordBytes                                    int
	Map, Unknown                                      string
	FeaturesBias                                      bool
	FeaturesNorm, FeaturesRange                       string

	offsets   deployment.Offsets   // contents of the file in ORIEL_START; nil: it names no file
	schema    *recordschema.Schema // nil: records are JSON
	schemaIDs []schemaID           // schema ids of Confluent's framing
	lines     bool                 // events are lines of JSON instead of records
	namesID   bool                 // ORIEL_DECISIONS_SCHEMA_ID is set
	mapping   *mapping.Mapping     // nil: events have the operator's own form
	mapText   string               // document of ORIEL_MAP without white space around it; "": none
	mapDigest [sha256.Size]byte
	values    *operators.Values // settings of the operator
	events    operators.Events  // with the groups Events and Operator
	decoding  event.Config      // with the groups Events and Operator
	eventsOf  string            // name of the operator that values belongs to
	learner   streams.Learner   // the operator and its mechanism, with the group Operator
}
