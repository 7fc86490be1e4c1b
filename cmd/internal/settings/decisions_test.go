package settings

import (
	"testing"

	"oriel/state"
)

// TestIDsOfADeployment checks that settings without a schema id take the id with which the deployment was opened.
// Deployments that were opened before decisions had schemas in a registry must keep their configuration.
func TestIDsOfADeployment(t *testing.T) {
	const registry = "ORIEL_SCHEMA_REGISTRY=http://registry"
	for _, c := range []struct {
		given     []string
		opened    string // settings line that the deployment froze when it was opened
		registers bool
		want      string // expected value in the canonical configuration after opening
	}{
		{[]string{"ORIEL_DECISIONS_FORMAT=avro", registry}, "DECISIONS_SCHEMA_ID=9", true, "9"},
		{[]string{"ORIEL_DECISIONS_FORMAT=avro", registry}, "", true, ""},
		{[]string{"ORIEL_DECISIONS_FORMAT=protobuf"}, "DECISIONS_SCHEMA_ID=9", false, "9"},
		{[]string{"ORIEL_DECISIONS_FORMAT=protobuf", "ORIEL_DECISIONS_SCHEMA_ID=0"}, "DECISIONS_SCHEMA_ID=9", false, ""},
		{[]string{"ORIEL_DECISIONS_FORMAT=protobuf", "ORIEL_DECISIONS_SCHEMA_ID=7"}, "DECISIONS_SCHEMA_ID=9", false, "7"},
		{nil, "DECISIONS_SCHEMA_ID=9", false, ""},
	} {
		s, err := Load(append(minimal(), c.given...), Events, Operator)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.RegistersDecisions(); got != c.registers {
			t.Errorf("%q registers: %t", c.given, got)
		}
		if s.FreezesSchemaID() && state.ConfigValue(s.Canonical(), "DECISIONS_SCHEMA_ID") != "" {
			t.Errorf("%q has an id before one is frozen", c.given)
		}
		opened := s.Opened(c.opened + "\nDECISIONS_FORMAT=" + s.DecisionsFormat + "\n")
		if got := state.ConfigValue(opened.Canonical(), "DECISIONS_SCHEMA_ID"); got != c.want {
			t.Errorf("%q, opened with %q: id %q, want %q", c.given, c.opened, got, c.want)
		}
	}
}
