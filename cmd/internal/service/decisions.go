package service

import (
	"context"
	"fmt"
	"strings"

	"oriel/cmd/internal/schemaregistry"
	"oriel/cmd/internal/settings"
	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/streams"
	"oriel/schemas/decision"
)

// AsOpened returns the settings of a deployment and its model with the id of the decisions' schema that the deployment
// froze when it was opened. opened is false if the deployment has no manifest yet, or one with another encoding of
// decisions, which may still change. AsOpened does not read the manifest if the settings leave no id to be frozen.
func (h Host) AsOpened(
	ctx context.Context, s settings.Settings, d changelog.Deployment,
) (_ settings.Settings, m streams.Model, opened bool, err error) {
	if !s.FreezesSchemaID() {
		return s, d.Model, true, nil
	}
	config, err := changelog.OpenedConfig(ctx, d.Client, d.Topics.Changelog, d.Master)
	if err != nil || config == "" {
		return s, d.Model, false, err
	}
	s = s.Opened(config)
	m, err = h.Model(s)
	return s, m, s.DecidesAs(config), err
}

// registerDecisions registers the schema of decisions for each decision topic, and returns the id of the schema.
func registerDecisions(
	ctx context.Context, s settings.Settings, c deployment.Config, done func(what string),
) (uint32, error) {
	config, err := s.Registry()
	if err != nil {
		return 0, err
	}
	registry, err := schemaregistry.New(config)
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
				config.URL, first, c.Decisions, id, subject)
		}
		first = id
		done(fmt.Sprintf("the schema of decisions is registered as %s: id %d", subject, id))
	}
	return first, nil
}
