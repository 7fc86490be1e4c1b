package settings

import (
	"slices"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/schemas/decision"
)

// check validates the settings for a command that needs these groups. A rule that needs several packages (a tree's
// window, an oracle's set) belongs to one of these packages, which applies it when the model is built.
func (s Settings) check(needs []Need, p *operators.Problems) {
	if slices.Contains(needs, Kafka) {
		s.checkSecurity(p)
	}
	if slices.Contains(needs, Deployment) {
		p.Want("AFTER", s.After != s.Name || s.Name == "",
			"%q: the deployment itself; the one that goes on needs another ORIEL_NAME", s.After)
		s.checkStream(p)
		for _, f := range []struct{ name, value string }{
			{"AFTER_GROUP", s.AfterGroup},
			{"AFTER_DECISION_TOPIC", s.AfterDecisions},
			{"AFTER_CHANGELOG_TOPIC", s.AfterChangelog},
			{"AFTER_STREAM", s.AfterStream},
		} {
			p.Want(f.name, f.value == "" || s.After != "", "set, but ORIEL_AFTER is not")
		}
		p.Want("AFTER_STREAM", s.AfterStream == "" || s.Stream == wholeTopic,
			"set, but each partition goes on after the same partition of the other deployment; set ORIEL_STREAM=topic")
	}
	if slices.Contains(needs, Letters) {
		p.Want("LETTERS_GROUP", s.Name == "" || s.LettersDeployment().Group != s.Deployment().Group,
			"the same as the group of oriel run")
	}
	if slices.Contains(needs, Events) || slices.Contains(needs, Operator) {
		p.Want("DECISIONS_SCHEMA_ID", s.DecisionsSchemaID == 0 || s.Encoding() != decision.JSON,
			"set, but decisions in JSON name no schema; set ORIEL_DECISIONS_FORMAT")
	}
	// The rules of an unknown mechanism would blame other settings.
	if slices.Contains(needs, Operator) && p.Sound("MECHANISM") {
		s.checkPrivacy(p)
	}
}

// checkStream refuses settings of the order log for deployments that write no order log.
func (s Settings) checkStream(p *operators.Problems) {
	for _, f := range []struct{ name, value string }{{"ORDER_TOPIC", s.OrderTopic}, {"SEQUENCER", s.Sequencer}} {
		p.Want(f.name, f.value == "" || s.Stream == wholeTopic,
			"set, but a stream of one partition has its order from the partition itself; set ORIEL_STREAM=topic")
	}
}

func (s Settings) checkSecurity(p *operators.Problems) {
	p.Want("MASTER_KEY_COMMAND", s.MasterKeyCommand == "" || s.MasterKeyFile == "",
		"set, and so is ORIEL_MASTER_KEY_FILE: set one of the two alone")
	if s.SASLMechanism != "" && s.SASLMechanism != oauthBearer {
		p.Want("SASL_USER", s.SASLUser != "", "not set, but ORIEL_SASL_MECHANISM is")
		p.Want("SASL_PASSWORD_FILE", s.SASLPasswordFile != "", "not set, but ORIEL_SASL_MECHANISM is")
	}
	s.checkTokens(p)
	p.Want("TLS_KEY_FILE", (s.TLSKeyFile == "") == (s.TLSCertFile == ""),
		"a client certificate and its key are given together")
	p.Want("TLS", s.TLS || (s.TLSCAFile == "" && s.TLSCertFile == ""), "false, but certificates are given")
}

func (s Settings) checkPrivacy(p *operators.Problems) {
	s.checkUsers(p)
	s.checkWindow(p)
	s.checkRounds(p)
	p.Want("AFTER", s.After == "" || s.decays(), "%q: set, but the sums do not forget: without ORIEL_MEMORY the noise that the "+
		"other deployment ended with would stay in them for ever; start from nothing", s.After)
	p.Want("DELTA", s.facts().Law != mechanisms.Gaussian || s.Delta > 0,
		"%g: not between 0 and 1; %s needs it", s.Delta, s.Mechanism)
}
