package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/settings"
	"oriel/pipeline"
	"oriel/state"
)

func topicsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "topics",
		Short: "Create or check the deployment's topics, and write its manifest",
		Long:  "Topics creates the decision, changelog and dead-letter topics that are missing, with as many partitions as the input,\nchecks the settings of those that exist, and writes the manifest (configuration and wrapped name key) to each\nchangelog partition that has none. It is safe to run again; with another configuration it refuses.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			s, err := settings.Load(os.Environ(), settings.Kafka, settings.Deployment, settings.Events, settings.Operator)
			if err != nil {
				return err
			}
			if _, err := s.Guarantee(); err != nil { // a manifest must not freeze settings that no plan fits
				return err
			}
			master, err := state.LoadMasterKey(s.MasterKeyFile)
			if err != nil {
				return fmt.Errorf("ORIEL_MASTER_KEY_FILE: %w", err)
			}
			client, err := dial(s)
			if err != nil {
				return err
			}
			defer func() { _ = client.Close() }()
			c := s.Deployment()
			if err := pipeline.CreateTopics(ctx, client, c, func(topic string) { cmd.Println("created", topic) }); err != nil {
				return err
			}
			topics, err := pipeline.CheckTopics(ctx, client, c)
			if err != nil {
				return err
			}
			if err := pipeline.WriteManifests(ctx, client, c, topics, s.Canonical(), master); err != nil {
				return err
			}
			cmd.Printf("%s: %d partitions ready\n", c.Name, topics.Input.Partitions)
			return nil
		},
	}
}
