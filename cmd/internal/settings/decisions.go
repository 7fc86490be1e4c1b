package settings

import (
	"cmp"
	"strconv"

	"oriel/schemas/decision"
	"oriel/state"
)

// FreezesSchemaID reports whether decisions name the schema id that `oriel topics` froze, if it froze one. This holds
// if decisions are not JSON and ORIEL_DECISIONS_SCHEMA_ID is not set.
func (s Settings) FreezesSchemaID() bool { return s.Encoding() != decision.JSON && !s.namesID }

// RegistersDecisions reports whether `oriel topics` registers the schema of decisions when it opens the deployment.
func (s Settings) RegistersDecisions() bool { return s.SchemaRegistry != "" && s.FreezesSchemaID() }

// WithSchemaID returns the settings with the id of the decisions' schema set.
func (s Settings) WithSchemaID(id uint32) Settings {
	s.DecisionsSchemaID, s.namesID = uint64(id), true
	return s
}

// DecidesAs reports whether a deployment's configuration has the same encoding of decisions.
func (s Settings) DecidesAs(config string) bool {
	return cmp.Or(state.ConfigValue(config, "DECISIONS_FORMAT"), decision.Encodings[decision.JSON]) == s.DecisionsFormat
}

// Opened returns the settings with the id of the decisions' schema that a deployment froze in its configuration when it
// was opened, unless the settings name one.
func (s Settings) Opened(config string) Settings {
	if !s.FreezesSchemaID() || !s.DecidesAs(config) {
		return s
	}
	// ParseUint returns 0 if the configuration has no such entry
	id, _ := strconv.ParseUint(state.ConfigValue(config, "DECISIONS_SCHEMA_ID"), 10, 31)
	return s.WithSchemaID(uint32(id))
}
