package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/settings"
	"oriel/pipeline"
	"oriel/pipeline/kafka"
	"oriel/state"
)

func topicsCommand() *cobra.Command {
	var inputPartitions int
	cmd := &cobra.Command{
		Use:   "topics",
		Short: "Create or check the deployment's topics, and write its manifest",
		Long:  "Topics creates the decision, changelog and dead-letter topics that are missing, with as many partitions as the input,\nchecks the settings of those that exist, and writes the manifest (configuration and wrapped name key) to each\nchangelog partition that has none. It is safe to run again; with another configuration it refuses.\n\nIt needs the settings of `oriel run`, except ORIEL_START and ORIEL_STATE_DIR.\n\nThe input topic is yours: it must exist, unless --input-partitions says how to create it.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return prepare(cmd.Context(), thisHost(), inputPartitions)
		},
	}
	cmd.Flags().IntVar(&inputPartitions, "input-partitions", 0, "create the input topic with so many partitions if it does not exist")
	return cmd
}

// prepare creates and checks the topics, and writes the manifests.
func prepare(ctx context.Context, h host, inputPartitions int) error {
	s, err := settings.Load(h.environ, settings.Kafka, settings.Deployment, settings.Events, settings.Operator)
	if err != nil {
		return err
	}
	model, err := h.model(s)
	if err != nil {
		return err
	}
	if _, err := s.Guarantee(model); err != nil { // a manifest must not freeze settings that no plan fits
		return err
	}
	master, err := state.LoadMasterKey(s.MasterKeyFile)
	if err != nil {
		return fmt.Errorf("ORIEL_MASTER_KEY_FILE: %w", err)
	}
	client, err := h.dial(s, retrying(h.logger("warn"), nil))
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	made := func(topic string) { fmt.Fprintln(h.stderr, "created", topic) }
	c := s.Deployment()
	if err := createInput(ctx, client, c, inputPartitions, made); err != nil {
		return err
	}
	if err := pipeline.CreateTopics(ctx, client, c, made); err != nil {
		return err
	}
	topics, err := pipeline.CheckTopics(ctx, client, c)
	if err != nil {
		return err
	}
	if err := pipeline.WriteManifests(ctx, client, c, topics, model, master); err != nil {
		return err
	}
	fmt.Fprintf(h.stderr, "%s is ready (partitions: %d)\n", c.Name, topics.Input.Partitions)
	return nil
}

// createInput makes the input topic where --input-partitions asks for it and it is missing.
func createInput(ctx context.Context, client *kafka.Client, c pipeline.Config, partitions int, made func(topic string)) error {
	if partitions == 0 {
		return nil
	}
	cluster, err := client.Describe(ctx, c.Input)
	if err != nil {
		return err
	}
	if topic, exists := cluster.Topics[c.Input]; exists {
		if topic.Partitions != partitions {
			return fmt.Errorf("--input-partitions %d: topic %q exists and has %d", partitions, c.Input, topic.Partitions)
		}
		return nil
	}
	if err := client.CreateTopic(ctx, c.Input, partitions, min(3, cluster.Brokers), nil); err != nil {
		return fmt.Errorf("create %s: %w", c.Input, err)
	}
	made(c.Input)
	return nil
}
