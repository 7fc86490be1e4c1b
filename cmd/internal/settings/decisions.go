package settings

import (
	"cmp"
	"strconv"

	"oriel/schemas"
	"oriel/schemas/protobuf"
	"oriel/state"
)

// FreezesSchemaID reports whether decisions name the schema id that `oriel topics` froze, if it froze one. This holds
// if decisions are not JSON and ORIEL_DECISIONS_SCHEMA_ID is not set.
func (s Settings) FreezesSchemaID() bool { return s.Encoding() != schemas.JSON && !s.namesID }

// RegistersDecisions reports whether `oriel topics` registers the schema of decisions when it opens the deployment.
func (s Settings) RegistersDecisions() bool { return s.SchemaRegistry != "" && s.FreezesSchemaID() }

// WithSchemaID returns the settings with the id of the decisions' schema set.
func (s Settings) WithSchemaID(id uint32) Settings {
	s.DecisionsSchemaID, s.namesID = uint64(id), true
	return s
}

// FreezesOpening reports whether the deployment freezes values when it is opened. There are two such values: the id of
// the decisions' schema, and the version of the rules for reading Protobuf.
func (s Settings) FreezesOpening() bool { return s.FreezesSchemaID() || s.rules != 0 }

// DecidesAs reports whether a deployment's configuration has the same encoding of decisions.
func (s Settings) DecidesAs(config string) bool {
	return cmp.Or(state.ConfigValue(config, "DECISIONS_FORMAT"), schemas.Encodings[schemas.JSON]) == s.DecisionsFormat
}

// Opened returns the settings with the values that a deployment froze in its configuration when it was opened: the id
// of the decisions' schema, unless the settings name one, and the rules for Protobuf.
func (s Settings) Opened(config string) Settings {
	number := func(name string) uint32 {
		// ParseUint returns 0 if the configuration has no such entry
		n, _ := strconv.ParseUint(state.ConfigValue(config, name), 10, 31)
		return uint32(n)
	}
	if s.rules != 0 && state.ConfigValue(config, "FORMAT") == s.Format { // otherwise the deployment is to be opened anew
		s.rules = protobuf.Version(max(1, min(number("FORMAT_VERSION"), uint32(protobuf.Newest))))
	}
	if !s.FreezesSchemaID() || !s.DecidesAs(config) {
		return s
	}
	return s.WithSchemaID(number("DECISIONS_SCHEMA_ID"))
}
