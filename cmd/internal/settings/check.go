package settings

import (
	"math"
	"net"
	"regexp"
	"slices"
	"strconv"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/pipeline/deployment"
	"oriel/schemas"
)

var deploymentName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,200}$`)

// check validates the settings that are given or required. A rule that needs several packages (a tree's window, an
// oracle's set) belongs to one of these packages, which applies it when the model is built.
func (s Settings) check(needs []Need, p *operators.Problems, further []string) {
	if slices.Contains(needs, Kafka) {
		for _, broker := range s.Brokers {
			host, port, err := net.SplitHostPort(broker)
			p.Want("BROKERS", err == nil && host != "" && port != "", "%q: not host:port", broker)
		}
		s.checkSecurity(p)
		p.OneOf("LOG_FORMAT", s.LogFormat, "logfmt", "json")
	}
	if slices.Contains(needs, Deployment) {
		p.Want("AFTER", s.After != s.Name || s.Name == "",
			"%q: the deployment itself; the one that goes on needs another ORIEL_NAME", s.After)
		s.checkStream(p)
		p.Want("NAME", deploymentName.MatchString(s.Name), "%q: not 1 to 200 letters, digits, dots, underscores and hyphens", s.Name)
	}
	for _, f := range []struct{ name, value string }{
		{"AFTER_GROUP", s.AfterGroup},
		{"AFTER_DECISION_TOPIC", s.AfterDecisions},
		{"AFTER_CHANGELOG_TOPIC", s.AfterChangelog},
		{"AFTER_STREAM", s.AfterStream},
	} {
		p.Want(f.name, f.value == "" || s.After != "", "set, but ORIEL_AFTER is not")
	}
	if s.AfterStream != "" {
		_, err := strconv.ParseUint(s.AfterStream, 10, 31)
		p.Want("AFTER_STREAM", err == nil || s.AfterStream == deployment.NoStream,
			"%q: neither a partition nor none", s.AfterStream)
		p.Want("AFTER_STREAM", s.Stream == wholeTopic, "set, but each partition goes on after the same partition of the other deployment; set ORIEL_STREAM=topic")
	}
	if slices.Contains(needs, Service) {
		_, _, err := net.SplitHostPort(s.HTTPAddr)
		p.Want("HTTP_ADDR", err == nil, "%q: not host:port", s.HTTPAddr)
		p.Want("DECISION_GAUGES", s.DecisionGauges >= 0 && s.DecisionGauges <= 1000,
			"%d: not within 0 to 1000", s.DecisionGauges)
		p.OneOf("START", s.Start, "earliest", "latest")
		p.Want("COMMIT_INTERVAL", s.CommitInterval >= 1e6 && s.CommitInterval <= 60e9,
			"%v: not within 1ms to 1m", s.CommitInterval)
	}
	if slices.Contains(needs, Service) || slices.Contains(needs, Letters) {
		p.Want("MEMORY_LIMIT", s.MemoryLimit >= int(deployment.LeastMemory) && s.MemoryLimit <= int(deployment.MostMemory),
			"%d: not within %d to %d", s.MemoryLimit, deployment.LeastMemory, deployment.MostMemory)
		p.OneOf("LOG_LEVEL", s.LogLevel, "debug", "info", "warn", "error")
		p.Want("SESSION_TIMEOUT", s.SessionTimeout >= 1e9 && s.SessionTimeout <= 1800e9,
			"%v: not within 1s to 30m", s.SessionTimeout)
	}
	if slices.Contains(needs, Letters) {
		p.Want("LETTERS_GROUP", s.Name == "" || s.LettersDeployment().Group != s.Deployment().Group,
			"the same as the group of oriel run")
	}
	if slices.Contains(needs, Events) || slices.Contains(needs, Operator) {
		if _, err := schemas.ParseRanges(s.FeaturesRange); err != nil {
			p.Want("FEATURES_RANGE", false, "%w", err)
		}
		p.OneOf("DECISIONS_FORMAT", s.DecisionsFormat, schemas.Encodings[:]...)
		p.Want("DECISIONS_SCHEMA_ID", s.DecisionsSchemaID == 0 || s.Encoding() != schemas.JSON,
			"set, but decisions in JSON name no schema; set ORIEL_DECISIONS_FORMAT")
		p.Want("DECISIONS_SCHEMA_ID", s.DecisionsSchemaID <= math.MaxInt32,
			"%d: not within 0 to 2147483647", s.DecisionsSchemaID)
		p.OneOf("FEATURES_NORM", s.FeaturesNorm, "unit", "none")
		p.Want("MAX_RECORD_BYTES", s.MaxRecordBytes >= 1 && s.MaxRecordBytes <= 100<<20,
			"%d: not within 1 to 104857600", s.MaxRecordBytes)
	}
	p.Want("MEMORY", s.Memory < uint64(deployment.LeastMemory), "%d: the bound on the bytes that a process holds is ORIEL_MEMORY_LIMIT; "+
		"ORIEL_MEMORY is the number of steps that sums remember", s.Memory)
	if slices.Contains(needs, Operator) {
		s.checkPrivacy(p, further)
	}
}

// checkStream refuses unknown words, and refuses settings of the order log for deployments that write no order log.
func (s Settings) checkStream(p *operators.Problems) {
	if s.Stream != "" {
		p.OneOf("STREAM", s.Stream, wholeTopic, eachPartition)
	}
	if s.Sequencer != "" {
		p.OneOf("SEQUENCER", s.Sequencer, ownSequencer, otherSequencer)
	}
	for _, f := range []struct{ name, value string }{{"ORDER_TOPIC", s.OrderTopic}, {"SEQUENCER", s.Sequencer}} {
		p.Want(f.name, f.value == "" || s.Stream == wholeTopic,
			"set, but a stream of one partition has its order from the partition itself; set ORIEL_STREAM=topic")
	}
}

func (s Settings) checkSecurity(p *operators.Problems) {
	p.Want("MASTER_KEY_COMMAND", s.MasterKeyCommand == "" || s.MasterKeyFile == "",
		"set, and so is ORIEL_MASTER_KEY_FILE: set one of the two alone")
	if s.SASLMechanism != "" {
		p.OneOf("SASL_MECHANISM", s.SASLMechanism, "plain", "scram-sha-256", "scram-sha-512", oauthBearer)
	}
	if s.SASLMechanism != "" && s.SASLMechanism != oauthBearer {
		p.Want("SASL_USER", s.SASLUser != "", "not set, but ORIEL_SASL_MECHANISM is")
		p.Want("SASL_PASSWORD_FILE", s.SASLPasswordFile != "", "not set, but ORIEL_SASL_MECHANISM is")
	}
	s.checkTokens(p)
	p.Want("TLS_KEY_FILE", (s.TLSKeyFile == "") == (s.TLSCertFile == ""),
		"a client certificate and its key are given together")
	p.Want("TLS", s.TLS || (s.TLSCAFile == "" && s.TLSCertFile == ""), "false, but certificates are given")
}

func (s Settings) checkPrivacy(p *operators.Problems, further []string) {
	names := append(mechanisms.Names(), mechanisms.ExponentialMechanism)
	if s.facts().Paper && !slices.Contains(further, s.Mechanism) {
		p.PrintedInPaper("MECHANISM", s.Mechanism)
	} else {
		p.OneOf("MECHANISM", s.Mechanism, append(names, further...)...)
	}
	p.OneOf("ADJACENCY", s.Adjacency, "replace", "zero-out")
	p.Positive("EPSILON", s.Epsilon)
	p.Want("BATCH", s.Batch >= 1 && s.Batch <= 1<<31, "%d: not within 1 to 2147483648", s.Batch)
	s.checkUsers(p)
	s.checkWindow(p)
	s.checkRounds(p)
	p.Want("AFTER", s.After == "" || s.decays(), "%q: set, but the sums do not forget: without ORIEL_MEMORY the noise that the "+
		"other deployment ended with would stay in them for ever; start from nothing", s.After)
	facts := s.facts()
	if facts.Structure == mechanisms.Filter {
		p.Want("AGE_WEIGHT", s.AgeWeight >= 0 && s.AgeWeight <= 1, "%g: not within 0 to 1", s.AgeWeight)
		p.Want("POLES", s.Poles == 0 || s.Poles >= 2 && s.Poles <= 4, "%d: not 0, 2, 3 or 4", s.Poles)
	}
	if facts.Law == mechanisms.Gaussian {
		p.Want("DELTA", s.Delta > 0 && s.Delta < 1, "%g: not between 0 and 1; %s needs it", s.Delta, s.Mechanism)
	}
}
