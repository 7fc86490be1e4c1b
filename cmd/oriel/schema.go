package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"oriel/cmd/internal/program"
	"oriel/cmd/internal/service"
	"oriel/cmd/internal/settings"
	"oriel/operators"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

func schemaCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema (events | decisions)",
		Short: "Print the schema of the configured operator's events or decisions",
		Long: "Schema prints a JSON Schema (draft 2020-12). Events: the members that records of the input topic have; it needs the settings\n" +
			"that decode events, as `oriel features` does. " + decodesAsFirst + " With ORIEL_MAP: the member at each path, and its part in an event.\n" +
			"Decisions: records of the decision topic, with the members that only decisions of\n" +
			"the operator have. A schema gives the shape; the decoder checks the rest (the dimension, a name given twice).\n" +
			"With ORIEL_DECISIONS_FORMAT=protobuf or avro it is the .proto or .avsc file, one for all operators: the names of\n" +
			"members are the same as in the JSON Schema.",
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"events", "decisions"},
		RunE: func(cmd *cobra.Command, args []string) error {
			schema, err := schemaOf(args[0], program.Environ(cmd.Context()))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s", schema)
			return err
		},
	}
	cmd.AddCommand(schemaPullCommand())
	return cmd
}

func schemaPullCommand() *cobra.Command {
	var leaveOut []uint
	cmd := &cobra.Command{
		Use:   "pull",
		Short: "Add the schemas that the registry has by now to those that the deployment has frozen",
		Long: "Pull asks ORIEL_SCHEMA_REGISTRY for the versions of ORIEL_SCHEMA_SUBJECT, checks that each can be read as ORIEL_MAP asks, and\n" +
			"freezes those that are new. They are known from the present end of the input on: records before it that name them stay null\n" +
			"events, so that a replay gives the same decisions. A process that has the stream takes it over again within seconds.\n\n" +
			"It needs the settings of `oriel topics`. It is safe to run again; it never takes a schema away.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return service.PullSchemas(cmd.Context(), host(cmd), leaveOut)
		},
	}
	leaveOutFlag(cmd.Flags(), &leaveOut)
	return cmd
}

func leaveOutFlag(f *pflag.FlagSet, ids *[]uint) {
	program.Var(f, ids, "leave-out", nil, "ids of the registry to leave out, whose records become null events")
}

// schemaOf returns the JSON Schema of events or of decisions.
func schemaOf(what string, environ []string) ([]byte, error) {
	if what == "events" {
		s, err := settings.Load(environ, settings.Events)
		if err != nil {
			return nil, err
		}
		events := s.EventConfig()
		if m := s.Mapping(); m != nil {
			plan, err := m.Compile(events)
			return plan.Schema(), err
		}
		return event.Schema(events.Body), nil
	}
	s, err := settings.Load(environ, settings.Events, settings.Operator)
	if err != nil {
		return nil, err
	}
	learner := s.Learner()
	if encoding := s.Encoding(); encoding != decision.JSON {
		return decision.EncodingSchema(encoding), nil
	}
	operator := learner.Operator()
	return decision.Schema(operators.FormOf(operator), operator.Extras()), nil
}
