package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/settings"
	"oriel/operators"
	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/state"
)

func topicsCommand() *cobra.Command {
	var inputPartitions int
	cmd := &cobra.Command{
		Use:   "topics",
		Short: "Create or check the deployment's topics, and write its manifest",
		Long: "Topics creates the decision, verdict, changelog and dead-letter topics that are missing, with as many partitions as the input,\n" +
			"adds partitions to them when the input has grown (it never takes any away; with ORIEL_USER_ID it refuses), checks the\n" +
			"settings of those that exist, and writes the manifest (configuration and wrapped name key) to each changelog partition\n" +
			"that has none. It is safe to run again; with another configuration it refuses.\n\n" +
			"It needs the settings of `oriel run`, except ORIEL_START and ORIEL_STATE_DIR.\n\n" +
			"The input topic is yours: it must exist, unless --input-partitions says how to create it.",
		Args: cobra.NoArgs,
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
	client, err := h.dial(s, nil, retrying(h.logger("warn", s.LogFormat), nil))
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	done := func(what string) { fmt.Fprintln(h.stderr, what) }
	c, err := s.DeploymentOf(model)
	if err != nil {
		return err
	}
	if inputPartitions > 0 {
		if err := deployment.CreateInput(ctx, client, c, inputPartitions, done); err != nil {
			return err
		}
	}
	if err := deployment.CreateTopics(ctx, client, c, done); err != nil {
		return err
	}
	topics, err := deployment.CheckTopics(ctx, client, c, deployment.ByAll)
	if err != nil {
		return err
	}
	if err := changelog.WriteManifests(ctx, client, c, topics, model, master); err != nil {
		return err
	}
	written, err := deployment.WriteDescriptor(ctx, client, c, topics, operators.DescriptorOf(model.Learner.Operator()))
	if err != nil {
		return err
	}
	if written {
		done("published the descriptor in " + c.Descriptor)
	}
	fmt.Fprintf(h.stderr, "%s is ready (partitions: %d)\n", c.Name, topics.Input.Partitions)
	return nil
}
