package main

import (
	"context"

	"oriel/cmd/internal/settings"
	"oriel/pipeline"
)

// openDeployment gives a command what it needs to read what a deployment has sealed.
func (h host) openDeployment(ctx context.Context) (pipeline.Deployment, error) {
	s, err := settings.Load(h.environ, settings.Kafka, settings.Deployment, settings.Events, settings.Operator)
	if err != nil {
		return pipeline.Deployment{}, err
	}
	model, err := s.Model()
	if err != nil {
		return pipeline.Deployment{}, err
	}
	config, err := s.DeploymentOf(model)
	if err != nil {
		return pipeline.Deployment{}, err
	}
	c, err := h.connect(ctx, s, config, pipeline.ByService, nil, retrying(h.logger("warn", s.LogFormat), nil))
	if err != nil {
		return pipeline.Deployment{}, err
	}
	return pipeline.Deployment{Client: c.client, Config: config, Topics: c.topics, Model: model, Master: c.master}, nil
}
