package settings

import (
	"testing"

	"oriel/state"
)

// TestIDsOfADeployment checks that settings without a schema id take the id with which the deployment was opened.
// A deployment that was opened without an id must stay without one.
func TestIDsOfADeployment(t *testing.T) {
	const registry = "ORIEL_SCHEMA_REGISTRY=http://registry"
	for _, c := range []struct {
		given     []string
		opened    string // schema id that the deployment froze when it was opened
		registers bool
		want      string // expected value in the canonical configuration after opening
	}{
		{[]string{"ORIEL_DECISIONS_FORMAT=avro", registry}, "9", true, "9"},
		{[]string{"ORIEL_DECISIONS_FORMAT=avro", registry}, "", true, ""},
		{[]string{"ORIEL_DECISIONS_FORMAT=protobuf"}, "9", false, "9"},
		{[]string{"ORIEL_DECISIONS_FORMAT=protobuf", "ORIEL_DECISIONS_SCHEMA_ID=0"}, "9", false, ""},
		{[]string{"ORIEL_DECISIONS_FORMAT=protobuf", "ORIEL_DECISIONS_SCHEMA_ID=7"}, "9", false, "7"},
		{nil, "9", false, ""},
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
		config := "DECISIONS_FORMAT=" + s.DecisionsFormat + "\nDECISIONS_SCHEMA_ID=" + c.opened + "\n"
		if got := state.ConfigValue(s.Opened(config).Canonical(), "DECISIONS_SCHEMA_ID"); got != c.want {
			t.Errorf("%q, opened with %q: id %q, want %q", c.given, c.opened, got, c.want)
		}
	}
}
