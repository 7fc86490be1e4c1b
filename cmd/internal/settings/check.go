package settings

import (
	"cmp"
	"slices"

	"oriel/operators/setting"
	"oriel/pipeline/notice"
	"oriel/schemas/decision"
)

// check validates the settings for a command that needs these groups. A rule that needs several packages (a tree's
// window, an oracle's set) belongs to one of these packages, which applies it when the model is built.
func (s Settings) check(needs []Need, p *setting.Problems) {
	if slices.Contains(needs, Kafka) {
		p.Want("MASTER_KEY_COMMAND", s.MasterKeyCommand == "" || s.MasterKeyFile == "",
			"set, and so is ORIEL_MASTER_KEY_FILE: set one of the two alone")
		s.Connection.Check(p)
	}
	if slices.Contains(needs, Deployment) {
		s.checkStream(p)
	}
	if slices.Contains(needs, Service) {
		p.Want("RUNTIME_METRICS", !s.RuntimeMetrics || s.Audience() == notice.Operators,
			"true, but memory and processor time depend on records; set ORIEL_METRICS=operators, if all who see /metrics may know that")
	}
	if slices.Contains(needs, Letters) {
		p.Want("LETTERS_GROUP", s.Name == "" || s.LettersDeployment().Group != s.Deployment().Group,
			"the same as the group of oriel run")
	}
	if slices.Contains(needs, Events) || slices.Contains(needs, Operator) {
		p.Want("DECISIONS_SCHEMA_ID", s.DecisionsSchemaID == 0 || s.Encoding() != decision.JSON,
			"set, but decisions in JSON name no schema; set ORIEL_DECISIONS_FORMAT")
	}
	p.Want("STREAM", !s.ByClock() || s.Stream == wholeTopic || !slices.Contains(needs, Operator),
		"%s: with ORIEL_STEP the clock closes the steps of the whole topic; set ORIEL_STREAM=topic", cmp.Or(s.Stream, "not set"))
	// The rules of an unknown mechanism would blame other settings.
	if slices.Contains(needs, Operator) && p.Sound("MECHANISM") {
		s.Privacy.Check(p)
	}
}

// checkStream refuses settings of the order log for deployments that write no order log.
func (s Settings) checkStream(p *setting.Problems) {
	for _, f := range []struct{ name, value string }{{"ORDER_TOPIC", s.OrderTopic}, {"SEQUENCER", s.Sequencer}} {
		p.Want(f.name, f.value == "" || s.Stream == wholeTopic,
			"set, but a stream of one partition has its order from the partition itself; set ORIEL_STREAM=topic")
	}
}

// Audience returns who sees the metrics, the pages and the log. Where steps follow the clock, participation is hidden
// from readers of decisions, so they are the default. Where steps are numbers of events, participation is public.
func (s Settings) Audience() notice.Audience {
	switch {
	case s.Metrics != "":
		return notice.Audience(s.Metrics)
	case s.ByClock():
		return notice.Readers
	default:
		return notice.Operators
	}
}
