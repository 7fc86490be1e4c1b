package service

import (
	"context"

	"oriel/cmd/internal/settings"
	"oriel/pipeline/changelog"
	"oriel/pipeline/streams"
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
