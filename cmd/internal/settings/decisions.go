package settings

import (
	"strconv"

	"oriel/schemas"
	"oriel/state"
)

// FreezesSchemaID tells whether decisions name the schema that `oriel topics` has frozen, if any: they are not JSON,
// and ORIEL_DECISIONS_SCHEMA_ID does not say which.
func (s Settings) FreezesSchemaID() bool { return s.Encoding() != schemas.JSON && !s.namesID }

// RegistersDecisions tells whether `oriel topics` registers the schema of decisions when it opens the deployment.
func (s Settings) RegistersDecisions() bool { return s.SchemaRegistry != "" && s.FreezesSchemaID() }

// WithSchemaID are the settings once the schema of decisions has an id.
func (s Settings) WithSchemaID(id uint32) Settings {
	s.DecisionsSchemaID, s.namesID = uint64(id), true
	return s
}

// Opened are the settings of a deployment that was opened with a configuration. The id of the decisions' schema that
// it has frozen is theirs, unless they name one.
func (s Settings) Opened(config string) Settings {
	if !s.FreezesSchemaID() {
		return s
	}
	id, _ := strconv.ParseUint(state.ConfigValue(config, "DECISIONS_SCHEMA_ID"), 10, 31) // 0 where it has none
	return s.WithSchemaID(uint32(id))
}
