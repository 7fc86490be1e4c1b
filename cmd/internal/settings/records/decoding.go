package records

import (
	"fmt"
	"strings"

	"oriel/operators"
	"oriel/schemas/decision"
	"oriel/schemas/event"
	"oriel/state"
)

// EventConfig returns the configuration of the decoder of events. The settings must have been loaded with the group
// Events or Operator.
func (s Records) EventConfig() event.Config { return s.decoding }

// Decode makes the configuration of the decoder of an operator's events, with its settings of decoding.
func (s *Records) Decode(operator string, events operators.Events) (err error) {
	s.decoding, err = s.newDecoding(operator, events)
	return err
}

func (s Records) newDecoding(operator string, events operators.Events) (event.Config, error) {
	ranges, err := event.ParseRanges(s.FeaturesRange)
	if err != nil {
		return event.Config{}, fmt.Errorf("ORIEL_FEATURES_RANGE: %w", err)
	}
	c := event.Config{
		Body: events.Body, Dimension: events.Dimension, MaxBytes: s.MaxRecordBytes,
		Features: event.FeatureConfig{Bias: s.FeaturesBias, Norm: s.FeaturesNorm, Ranges: ranges},
		Operator: operator, Unknown: event.UnknownIsNull,
	}
	if s.passesUnknown() {
		c.Unknown = event.UnknownIsFree
	}
	if c.Foreign, err = s.foreign(c); err != nil {
		return c, err
	}
	return c, c.Validate()
}

// FreezesSchemaID reports whether decisions name the schema id that `oriel topics` froze, if it froze one. This holds
// if decisions are not JSON and ORIEL_DECISIONS_SCHEMA_ID is not set.
func (s Records) FreezesSchemaID() bool { return s.Encoding() != decision.JSON && !s.NamesID }

// RegistersDecisions reports whether `oriel topics` registers the schema of decisions when it opens the deployment.
func (s Records) RegistersDecisions() bool { return s.SchemaRegistry != "" && s.FreezesSchemaID() }

// DecidesAs reports whether a deployment's configuration has the same encoding of decisions.
func (s Records) DecidesAs(config string) bool {
	return state.ConfigValue(config, "DECISIONS_FORMAT") == s.DecisionsFormat
}

// Encoding returns the encoding of decisions.
func (s Records) Encoding() decision.Encoding {
	e, _ := decision.ParseEncoding(s.DecisionsFormat) // ParseEncoding cannot fail, because check has validated the text
	return e
}

// FrozenSchema returns the digest of ORIEL_SCHEMA_FILE in the canonical configuration, or "".
func (s Records) FrozenSchema() string {
	if s.schema == nil {
		return ""
	}
	return fmt.Sprintf("sha256:%x", s.schema.Digest)
}

// FrozenMessage returns the message type of records in the canonical configuration, or "".
func (s Records) FrozenMessage() string {
	switch {
	case s.schema != nil:
		return s.schema.Message
	case s.fromRegistry():
		return s.SchemaMessage
	}
	return ""
}

// FrozenIDs returns the schema ids of records in the canonical configuration, each with the digest of its schema.
func (s Records) FrozenIDs() string {
	var ids []string
	for _, known := range s.schemaIDs {
		ids = append(ids, fmt.Sprintf("%d=sha256:%x", known.id, known.schema.Digest))
	}
	return strings.Join(ids, ",")
}

// FrozenSubject returns the subject of records in the canonical configuration, or "".
func (s Records) FrozenSubject() string {
	if s.fromRegistry() {
		return s.Subject()
	}
	return ""
}

// FrozenMap returns the digest of ORIEL_MAP's document in the canonical configuration, or "".
func (s Records) FrozenMap() string {
	if s.mapping == nil {
		return ""
	}
	return fmt.Sprintf("sha256:%x", s.mapDigest)
}

// FrozenUnknown returns the effect of unknown members in the canonical configuration.
func (s Records) FrozenUnknown() string {
	if s.passesUnknown() {
		return UnknownIgnored
	}
	return UnknownNull
}
