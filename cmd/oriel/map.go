package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/program"
	"oriel/cmd/internal/setup"
)

// howMany is the number of records or lines in a sample, firstFew the number of them that are shown.
const howMany, firstFew = 1000, 3

// requestFlags adds the flags of `oriel map` and `oriel init` for the source of a sample and its encoding.
func requestFlags(cmd *cobra.Command, r *setup.Request) {
	f := cmd.Flags()
	f.StringArrayVar(&r.Files, "sample", nil, "file with lines of JSON, or with one record of another format; may be given several times")
	f.StringVar(&r.Topic, "topic", "", "topic whose newest records are the sample")
	program.VarP(f, &r.Records, "records", "n", howMany, "records of the sample")
	f.StringVar(&r.Encoding.Format, "format", "", "format: json, avro or protobuf; without this flag the one that the sample shows")
	f.StringVar(&r.Encoding.Framing, "framing", "", "framing: plain, confluent or cloudevents; without this flag the one that the sample shows")
	f.StringVar(&r.Encoding.SchemaFile, "schema-file", "", "file with the Avro schema (.avsc) or the Protobuf schema (.proto, or a FileDescriptorSet)")
	f.StringVar(&r.Encoding.Message, "schema-message", "", "message type of Protobuf, with its package")
	f.StringSliceVar(&r.Encoding.IDs, "schema-ids", nil, "schema ids in Confluent's framing: `ID` for the schema of --schema-file, or ID=FILE for another version")
	f.StringVar(&r.Registry, "registry", "", "URL of the schema registry that has the schemas")
	f.StringVar(&r.Subject, "subject", "", "subject in the registry; TOPIC-value if not given")
	f.StringVar(&r.Where, "where", "", "which records are events, such as /status=paid; the others are null events")
	f.StringVar(&r.Label, "label", "", "the label: the path of a member, or for two classes a comparison such as /delay>15")
	program.Var(f, &r.First, "first", firstFew, "events to show as Oriel reads them")
}

func mapCommand() *cobra.Command {
	var r setup.Request
	cmd := &cobra.Command{
		Use:   "map (--sample FILE | --topic TOPIC) [--label PATH|COMPARISON]",
		Short: "Propose a mapping of your records: where the members of events stand",
		Long: "Map looks at a sample of your records and prints a document for ORIEL_MAP to standard output. It finds JSON, structured\n" +
			"CloudEvents and Confluent's framing by itself; Avro and Protobuf need their schema, as a file or from a registry.\n\n" +
			"Texts with few values, numbers and booleans become features, a time becomes its hour and weekday. Identifiers, free text\n" +
			"and lists are left out, each with the reason, on standard error. So are ranges of numbers: they come from the sample, so\n" +
			"confirm or replace each one by a publicly known value. A range that was looked up in private data is outside the guarantee,\n" +
			"and so is a mapping that was chosen by looking at such data: take old, public or made-up records for a sample where you can.\n\n" +
			"Last come the first events as Oriel reads them. These are contents of your records: they go to your terminal, for people who\n" +
			"may read the records, and --first 0 leaves them out. A topic needs ORIEL_BROKERS.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return mapRecords(cmd, r) },
	}
	requestFlags(cmd, &r)
	cmd.MarkFlagsMutuallyExclusive("sample", "topic")
	cmd.Flags().StringVar(&r.Want, "want", "", "kind of label: classes or number; classes if not given")
	return cmd
}

func mapRecords(cmd *cobra.Command, r setup.Request) error {
	if r.Want != "" && r.Want != setup.Classes && r.Want != setup.Value {
		return exit.WrongUse("--want: %q is neither classes nor number; oriel init proposes cells of statistics", r.Want)
	}
	h := host(cmd)
	look, err := r.Look(cmd.Context(), h.Environ, h.WithClient)
	if err != nil {
		return err
	}
	proposal, err := look.Propose(r.Where, r.Label)
	if err != nil {
		return err
	}
	document := setup.Document(r.Where, r.Label, proposal.Items, nil)
	notes := cmd.ErrOrStderr()
	look.Report(notes, proposal)
	if r.Label == "" {
		r.First = 0
		fmt.Fprintf(notes, "\nno label yet: --label names the predicted value%s\n", orOf(proposal.Classes))
	}
	if _, err := cmd.OutOrStdout().Write(document); err != nil {
		return err
	}
	if r.Label != "" && len(proposal.Items) == 0 {
		return exit.WrongUse("--label: %s: no other member can be a feature by itself. Records were read, as the first lines say; "+
			"write features into the mapping by hand, such as an element of a list or an entry of a map", r.Label)
	}
	return look.PrintFirst(notes, setup.Reading(r.Want, string(document)), r.First)
}

func orOf(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return "; of two classes are " + strings.Join(paths, ", ")
}
