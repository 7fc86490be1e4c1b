package settings

import (
	"strconv"

	"oriel/schemas"
	"oriel/schemas/protobuf"
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

// FreezesOpening tells whether a deployment goes on with what was the newest version when it was opened, where versions
// differ: the id of the decisions' schema, and the rules by which Protobuf is read.
func (s Settings) FreezesOpening() bool { return s.FreezesSchemaID() || s.rules != 0 }

// Opened are the settings of a deployment that was opened with a configuration. The id of the decisions' schema that
// it has frozen is theirs, unless they name one. Its rules for Protobuf are theirs.
func (s Settings) Opened(config string) Settings {
	number := func(name string) uint32 {
		n, _ := strconv.ParseUint(state.ConfigValue(config, name), 10, 31) // 0 where it has none
		return uint32(n)
	}
	if s.rules != 0 {
		s.rules = protobuf.Version(max(1, min(number("FORMAT_VERSION"), uint32(protobuf.Newest))))
	}
	if !s.FreezesSchemaID() {
		return s
	}
	return s.WithSchemaID(number("DECISIONS_SCHEMA_ID"))
}
