package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/program"
	"oriel/cmd/internal/setup"
	"oriel/cmd/internal/setup/dialogue"
)

func initCommand() *cobra.Command {
	o := dialogue.Options{Given: map[string]*string{}}
	ask := false
	cmd := &cobra.Command{
		Use:   "init [--topic TOPIC] [--sample FILE]",
		Short: "Set up a deployment for your topic, from at most nine answers",
		Long: "Init looks at a sample of your topic, or of a file, asks for its purpose, and writes a folder with all settings, each\n" +
			"with a comment (oriel.env), a mapping of your records (mapping.json), and a new master key. It then says\n" +
			"the deployment's promise, and the four commands that start it. It overwrites nothing.\n\n" +
			"Each question has a flag. Where standard input is no terminal nothing is asked: a flag that is missing is an error, or with\n" +
			"--yes the proposal is taken. Ranges of numbers are not: say --ranges proposed if the sample's ranges are public knowledge, or\n" +
			"name public ones. A range, a mapping or an ε that was chosen by looking at private data is outside the guarantee.\n\n" +
			"Names are counts of texts that nobody lists beforehand (names). Numbers are counts, sums and means of each hour or day by cell (aggregate). Models are: classes, which predicts a label of\n" +
			"two classes (coco), number (ridge), choice, which learns which of a few actions costs least (arms), and experiment, which tests\n" +
			"arms that chance draws (aggregate). The other operators are set up by hand: README.md.\n\n" +
			"The first events are shown as Oriel reads them: contents of your records, for people who may read these; --first 0 leaves them out.\n" +
			"Settings of the connection (ORIEL_BROKERS, ORIEL_TLS…, ORIEL_SASL…, ORIEL_OAUTH…) are taken from the environment.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return initialise(cmd, o, ask) },
	}
	requestFlags(cmd, &o.Request)
	f := cmd.Flags()
	for _, flag := range dialogue.Flags() {
		o.Given[flag.Name] = f.String(flag.Name, "", flag.Help)
	}
	f.StringVar(&o.Name, "name", "", "name of the deployment; TOPIC-oriel if not given")
	f.StringVar(&o.Folder, "out", "", "folder to make; the deployment's name if not given")
	f.StringVar(&o.Statistics, "statistics", "", "statistics of cells, in the form of ORIEL_STATISTICS; without this flag count, and sum and mean of the value")
	program.Var(f, &o.Rate, "rate", 0, "events a second; without this flag the rate that the times of the topic's records show")
	f.StringVar(&o.Start, "start", "", "where the deployment begins to read: earliest or latest; for numbers latest or a time, without this flag the present day if brokers write the times of records")
	f.BoolVar(&o.Takes, "yes", false, "accept the proposals without asking, where standard input is no terminal")
	f.BoolVar(&ask, "ask", false, "ask questions even if standard input is no terminal")
	_ = f.MarkHidden("ask")
	cmd.MarkFlagsMutuallyExclusive("yes", "ask")
	cmd.Flag("sample").Usage += "; it is looked at in place of the topic's records"
	return cmd
}

func initialise(cmd *cobra.Command, o dialogue.Options, ask bool) error {
	o.In, o.Out, o.Notes, o.Host = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr(), host(cmd)
	file, isFile := o.In.(*os.File)
	o.Asks = ask || !o.Takes && isFile && term.IsTerminal(int(file.Fd()))
	return dialogue.Run(cmd.Context(), o)
}

func keyCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "key --out FILE",
		Short: "Make a master key",
		Long: "Key draws a master key and writes it to a new file that only its owner can read (mode 0400), for ORIEL_MASTER_KEY_FILE.\n" +
			"It never overwrites: a deployment whose key is lost cannot go on.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := writeKeyFile(out); err != nil {
				return err
			}
			cmd.Println("wrote", out+"; keep a copy in a safe place")
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "file to make")
	_ = cmd.MarkFlagRequired("out")
	return cmd
}

// writeKeyFile creates a file with a new key.
func writeKeyFile(path string) error {
	err := setup.WriteNew(path, setup.NewKey(), 0o400)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("--out: %s exists, and a master key is never overwritten; use it, or name another file", path)
	}
	return err
}

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
		return exit.WrongUse("--want: %q is neither classes nor number; oriel init sets up numbers", r.Want)
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
