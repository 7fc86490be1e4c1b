package registry

import (
	"context"
	"fmt"
	"strings"

	"oriel/cmd/internal/settings"
	"oriel/pipeline/deployment"
	"oriel/schemas/decision"
)

// RegisterDecisions registers the schema of decisions for each decision topic, and returns the id of the schema.
func RegisterDecisions(
	ctx context.Context, s settings.Settings, c deployment.Config, done func(what string),
) (uint32, error) {
	registry, err := client(s)
	if err != nil {
		return 0, err
	}
	kind, text := strings.ToUpper(s.DecisionsFormat), string(decision.EncodingSchema(s.Encoding()))
	var first uint32
	for _, topic := range []string{c.Decisions, c.Second} {
		if topic == "" {
			continue
		}
		subject := topic + "-value"
		id, err := registry.Register(ctx, subject, kind, text)
		if err != nil {
			return 0, err
		}
		if first != 0 && id != first {
			return 0, fmt.Errorf("schema registry %s: the schema of decisions has id %d as %s-value and id %d as %s; "+
				"set ORIEL_DECISIONS_SCHEMA_ID to one that consumers of both topics may look up",
				s.SchemaRegistry, first, c.Decisions, id, subject)
		}
		first = id
		done(fmt.Sprintf("the schema of decisions is registered as %s: id %d", subject, id))
	}
	return first, nil
}
