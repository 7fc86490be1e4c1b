package settings

import (
	"time"

	"oriel/cmd/internal/settings/connection"
	"oriel/cmd/internal/settings/privacy"
	"oriel/cmd/internal/settings/records"
	"oriel/operators"
	"oriel/operators/setting"
	"oriel/pipeline/deployment"
	"oriel/pipeline/streams"
)

const prefix = setting.Prefix

// Settings holds the values of the settings that every operator has, and the chosen operator with its own settings.
// Each group of settings with rules of its own is a room below this package. rows.go says of each field which variable
// it has, and what its values are.
type Settings struct {
	connection.Connection
	privacy.Privacy
	records.Records

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
	Metrics                        string
	RuntimeMetrics                 bool

	Operator string

	offsets deployment.Offsets // contents of the file in ORIEL_START; nil: it names no file
	begin   time.Time          // the time in ORIEL_START; zero: it names none
	values  *setting.Values    // settings of the operator
	events  operators.Events   // with the groups Events and Operator
	learner streams.Learner    // the operator and its mechanism, with the group Operator
}
