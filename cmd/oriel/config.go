package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"oriel/cmd/internal/envfile"
	"oriel/cmd/internal/licenses"
	"oriel/cmd/internal/program"
	"oriel/cmd/internal/registry"
	"oriel/cmd/internal/service"
	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/tail"
	"oriel/cmd/internal/traps"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/setting"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

func configCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "config [--env-file FILE]",
		Short: "Show the settings in force, and check them",
		Long: "Config prints every setting with its value and whether it was given, as lines that --env-file takes, and checks them as\n" +
			"`oriel run` does before it connects to a broker: all problems at once, exit code 2. It then prints the promise of each stream.\n" +
			"It needs no brokers and opens no file of secrets.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, environ := cmd.OutOrStdout(), program.Environ(cmd.Context())
			printSettings(out, environ)
			if s, err := settings.Load(environ, settings.Events, settings.Operator); err == nil {
				traps.Warn(cmd.ErrOrStderr(), traps.Settings(s), traps.Overpaid(s), traps.Unseen(s))
			}
			_, _, g, err := host(cmd).Load(settings.Service)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(out, "\n"+
				"# Each stream: mechanism %s, window %s, %sepsilon %g, delta %g, adjacency %s, unit %s\n",
				g.Mechanism, tail.Window(g.Scope.Figures().Window), membersText(g.Members()),
				g.Epsilon, g.Delta, g.Unit.Adjacency(), g.Unit.Name())
			return err
		},
	}
}

// membersText formats the members of decisions, other than the window, that state the guarantee.
func membersText(members []protection.Member) string {
	text := ""
	for _, m := range members {
		text += m.Words + ", "
	}
	return text
}

// printSettings prints each variable on a line. A variable that is not set is printed as a comment with its default. Of
// the operators' settings, it prints only those of the configured operator.
func printSettings(out io.Writer, environ []string) {
	given := map[string]string{}
	for _, line := range environ {
		if name, value, ok := strings.Cut(line, "="); ok {
			given[name] = value
		}
	}
	for _, g := range settings.Groups() {
		if g.Operator != "" && g.Operator != given["ORIEL_OPERATOR"] {
			continue
		}
		if title := g.Title(); title != "" {
			fmt.Fprintf(out, "\n# %s\n", title)
		}
		for _, v := range g.Settings {
			name := setting.Prefix + v.Name
			if value, ok := given[name]; ok {
				fmt.Fprintf(out, "%s=%s\n", name, envfile.Quote(value))
			} else {
				fmt.Fprintf(out, "# %s=%s\n", name, v.Default)
			}
		}
	}
}

func schemaCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema (events | decisions)",
		Short: "Print the schema of the configured operator's events or decisions",
		Long: "Schema prints a JSON Schema (draft 2020-12). Events: the members that records of the input topic have; it needs the settings\n" +
			"that decode events; without ORIEL_OPERATOR events belong to " + registry.All[0].Name + ". With ORIEL_MAP: the member at each path, and its part in an event.\n" +
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

func licensesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "licenses", Short: "Print the licences of the software in this binary",
		Long: "Licenses prints the licence and notices of each module that this binary contains.", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), licenses.Notice)
			return err
		},
	}
}
