package operatortest_test

import (
	"path/filepath"
	"testing"

	"oriel/cmd/internal/operatortest"
	"oriel/cmd/internal/registry"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/schemas"
)

// TestOperatorStories plays the transcripts of every operator: what a user sends, what is decided, what is refused, and
// that a killed process and a replay give the same bytes.
func TestOperatorStories(t *testing.T) {
	for _, family := range registry.All {
		t.Run(family.Name, func(t *testing.T) { operatortest.Run(t, stories(family.Name)) })
	}
}

func stories(operator string) string {
	return filepath.Join("../../../operators", operator, "testdata/stories")
}

// TestOperatorStoriesInEveryEncoding: decisions in another encoding, or that name a schema, make no other story. The
// short form has an operator for each: linucb has record keys of its own in a second topic, aggregate the most members.
func TestOperatorStoriesInEveryEncoding(t *testing.T) {
	short := map[string]string{"protobuf": "linucb", "avro": "aggregate"}
	for _, encoding := range schemas.Encodings[schemas.Protobuf:] {
		for _, family := range registry.All {
			if tiertest.Runs(short[encoding] != family.Name, false) {
				continue
			}
			t.Run(encoding+"/"+family.Name, func(t *testing.T) {
				more := []string{"ORIEL_DECISIONS_FORMAT=" + encoding}
				if encoding == "protobuf" {
					more = append(more, "ORIEL_DECISIONS_SCHEMA_ID=7")
				}
				operatortest.Run(t, stories(family.Name), more...)
			})
		}
	}
}
