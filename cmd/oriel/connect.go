package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"oriel/cmd/internal/settings"
	"oriel/pipeline"
	"oriel/pipeline/kafka"
	"oriel/state"
)

// deployment is what commands that open sealed records share.
type deployment struct {
	client *kafka.Client
	topics pipeline.Topics
	master *state.MasterKey
}

// connect reads the master key and checks the deployment's topics. onRetry is the client's, or nil.
func connect(ctx context.Context, s settings.Settings, onRetry func(string, error)) (deployment, error) {
	master, err := state.LoadMasterKey(s.MasterKeyFile)
	if err != nil {
		return deployment{}, fmt.Errorf("ORIEL_MASTER_KEY_FILE: %w", err)
	}
	config, err := s.Client()
	if err != nil {
		return deployment{}, err
	}
	config.OnRetry = onRetry
	client, err := kafka.New(config)
	if err != nil {
		return deployment{}, err
	}
	topics, err := pipeline.CheckTopics(ctx, client, s.Deployment())
	if err != nil {
		return deployment{}, errors.Join(err, client.Close())
	}
	return deployment{client, topics, master}, nil
}

func dial(s settings.Settings) (*kafka.Client, error) {
	config, err := s.Client()
	if err != nil {
		return nil, err
	}
	return kafka.New(config)
}

// withClient gives a command that needs nothing but the brokers its client.
func withClient(f func(*kafka.Client) error) error {
	s, err := settings.Load(os.Environ(), settings.Kafka)
	if err != nil {
		return err
	}
	client, err := dial(s)
	if err != nil {
		return err
	}
	return errors.Join(f(client), client.Close())
}
