package operatortest_test

import (
	"path/filepath"
	"testing"

	"oriel/cmd/internal/operatortest"
	"oriel/cmd/internal/registry"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/schemas/decision"
)

// TestOperatorStories plays the transcripts of every operator: records that a user sends, decisions, and refusals. A
// killed process and a replay must give the same bytes.
func TestOperatorStories(t *testing.T) {
	for _, family := range registry.All {
		t.Run(family.Name, func(t *testing.T) { operatortest.Run(t, stories(family.Name)) })
	}
}

func stories(operator string) string {
	return filepath.Join("../../../operators", operator, "testdata/stories")
}

// TestOperatorStoriesInEveryEncoding checks that stories stay the same if decisions have another encoding or name a
// schema. The short form takes one operator for each encoding: linucb has record keys of its own in a second topic, and
// aggregate has the most members.
func TestOperatorStoriesInEveryEncoding(t *testing.T) {
	short := map[string]string{"protobuf": "linucb", "avro": "aggregate"}
	for _, encoding := range decision.Encodings[decision.Protobuf:] {
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
