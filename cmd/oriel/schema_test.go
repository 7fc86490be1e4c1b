package main

import (
	"io/fs"
	"testing"

	"oriel/schemas"
)

// TestSchemaPrintsWhatIsPublished: each loss has the schema of its body.
func TestSchemaPrintsWhatIsPublished(t *testing.T) {
	f := func(file, what string, env ...string) {
		t.Helper()
		want, err := fs.ReadFile(schemas.JSONSchemas(), file+".schema.json")
		if err != nil {
			t.Fatal(err)
		}
		got, err := schemaOf(what, env)
		if err != nil || string(got) != string(want) {
			t.Errorf("%v: %v: %s", env, err, got)
		}
	}
	f("event-loss", "events", "ORIEL_LOSS=logistic", "ORIEL_DIMENSION=8")
	f("event-target", "events", "ORIEL_LOSS=absolute", "ORIEL_DIMENSION=8")
	f("event-target", "events", "ORIEL_LOSS=quantile", "ORIEL_DIMENSION=8")
	f("event-level", "events", "ORIEL_LOSS=quantile", "ORIEL_DIMENSION=1")
	f("event-linear", "events", "ORIEL_LOSS=linear", "ORIEL_DIMENSION=8")
	f("event-portfolio", "events", "ORIEL_LOSS=portfolio", "ORIEL_DIMENSION=8")
	f("decision", "decisions", "ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=logistic",
		"ORIEL_SET=l2-ball", "ORIEL_RADIUS=5", "ORIEL_DIMENSION=8", "ORIEL_STRONG_CONVEXITY=0.001",
		"ORIEL_MECHANISM=blt", "ORIEL_WINDOW=64", "ORIEL_EPSILON=1", "ORIEL_DELTA=1e-6", "ORIEL_CLIP=1")
	f("decision-sparse", "decisions", "ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=linear",
		"ORIEL_SET=simplex", "ORIEL_RADIUS=1", "ORIEL_DIMENSION=8", "ORIEL_STRONG_CONVEXITY=0.001",
		"ORIEL_MECHANISM=blt", "ORIEL_WINDOW=64", "ORIEL_EPSILON=1", "ORIEL_DELTA=1e-6", "ORIEL_CLIP=1",
		"ORIEL_DECISIONS=sparse")
	if _, err := schemaOf("events", nil); err == nil {
		t.Error("events without settings have a schema")
	}
}
