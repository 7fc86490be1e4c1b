package main

import (
	"os"
	"slices"
	"testing"

	"oriel/cmd/internal/registry"
	"oriel/cmd/internal/servicetest"
	"oriel/cmd/oriel/testdata/toy"
)

// TestMain gives children with TEST_TOY one more operator than oriel has.
func TestMain(m *testing.M) {
	if os.Getenv("TEST_TOY") != "" {
		registry.All = slices.Insert(registry.All, 1, toy.Definition)
	}
	servicetest.Main(m, root)
}

// fixture is a deployment with the methods that the tests of this package need.
type fixture struct{ *servicetest.Fixture }

func newFixture(t *testing.T, partitions int, more map[string]string) *fixture {
	t.Helper()
	return &fixture{servicetest.New(t, partitions, more)}
}

// unserved returns a fixture for commands that need no deployment.
func unserved(t *testing.T, env map[string]string) *fixture {
	return &fixture{&servicetest.Fixture{Setup: servicetest.Setup{T: t, Env: env}}}
}

// offline returns a fixture with the settings of a replay and no broker.
func offline(t *testing.T, more map[string]string) *fixture {
	t.Helper()
	env := map[string]string{
		"ORIEL_OPERATOR": "coco", "ORIEL_UPDATE": "projection", "ORIEL_LOSS": "logistic", "ORIEL_SET": "l2-ball",
		"ORIEL_RADIUS": "5", "ORIEL_DIMENSION": "6", "ORIEL_STRONG_CONVEXITY": "0.01", "ORIEL_MECHANISM": "tree-gaussian",
		"ORIEL_WINDOW": "8", "ORIEL_EPSILON": "1", "ORIEL_DELTA": "1e-6", "ORIEL_CLIP": "1",
	}
	for k, v := range more {
		env[k] = v
	}
	return unserved(t, env)
}

// cocoPage is the page with the worked example.
const cocoPage = "operators/coco/README.md"
