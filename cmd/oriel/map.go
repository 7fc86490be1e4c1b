package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/service"
	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/setup"
	"oriel/pipeline/kafka"
	"oriel/schemas"
)

// sampleOptions are the flags of `oriel map` and `oriel init` that say where a sample is and how it is encoded.
type sampleOptions struct {
	files    []string
	topic    string
	records  int
	encoding setup.Encoding
	registry string
	subject  string
	where    string
	label    string
	want     string
	firstFew int
}

// howMany records of a topic or lines of a file are a sample, and how many of them are shown.
const howMany, firstFew = 1000, 3

func (o *sampleOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.files, "sample", nil, "lines of JSON, or one record of another format; may be given again")
	f.StringVar(&o.topic, "topic", "", "topic whose newest records are the sample")
	f.IntVarP(&o.records, "records", "n", howMany, "records of the sample")
	f.StringVar(&o.encoding.Format, "format", "", "json, avro or protobuf; what the sample shows, if not given")
	f.StringVar(&o.encoding.Framing, "framing", "", "plain, confluent or cloudevents; likewise")
	f.StringVar(&o.encoding.SchemaFile, "schema-file", "", "schema of Avro (.avsc) or Protobuf (.proto, or a FileDescriptorSet)")
	f.StringVar(&o.encoding.Message, "schema-message", "", "message type of Protobuf, with its package")
	f.StringSliceVar(&o.encoding.IDs, "schema-ids", nil, "ids that Confluent's framing has, each `ID` of --schema-file, or ID=FILE")
	f.StringVar(&o.registry, "registry", "", "URL of the schema registry that has the schemas")
	f.StringVar(&o.subject, "subject", "", "its subject; TOPIC-value if not given")
	f.StringVar(&o.where, "where", "", "which records are events, such as /status=paid; the others are null events")
	f.StringVar(&o.label, "label", "", "what is predicted: the path of a member, or of two classes a comparison, /delay>15")
	f.IntVar(&o.firstFew, "first", firstFew, "events to show as Oriel reads them")
}

func mapCommand() *cobra.Command {
	var o sampleOptions
	cmd := &cobra.Command{
		Use:   "map (--sample FILE | --topic TOPIC) [--label PATH|COMPARISON]",
		Short: "Propose a mapping of your records: where the members of events stand",
		Long: "Map looks at a sample of your records and prints a document for ORIEL_MAP to standard output. It finds JSON, structured\n" +
			"CloudEvents and Confluent's framing by itself; Avro and Protobuf need their schema, as a file or from a registry.\n\n" +
			"Texts with few values, numbers and booleans become features, a time becomes its hour and weekday. Identifiers, free text\n" +
			"and lists are left out, each with the reason, on standard error. So are ranges of numbers: they come from the sample, so\n" +
			"confirm or replace each one by what is publicly known. A range that was looked up in private data is outside the guarantee,\n" +
			"and so is a mapping that was chosen by looking at such data: take old, public or made-up records for a sample where you can.\n\n" +
			"Last come the first events as Oriel reads them. These are contents of your records: they go to your terminal, for whoever\n" +
			"may read the records, and --first 0 leaves them out. A topic needs ORIEL_BROKERS.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return mapRecords(cmd, o) },
	}
	o.flags(cmd)
	cmd.MarkFlagsMutuallyExclusive("sample", "topic")
	cmd.Flags().StringVar(&o.want, "want", "", "classes or number: which kind of label there is; two classes, if not given")
	return cmd
}

func mapRecords(cmd *cobra.Command, o sampleOptions) error {
	if o.want != "" && o.want != setup.Classes && o.want != setup.Value {
		return exit.WrongUse("--want: %q is neither classes nor number; oriel init proposes cells of statistics", o.want)
	}
	look, err := o.look(cmd.Context(), os.Environ())
	if err != nil {
		return err
	}
	proposal, err := look.propose(o.where, o.label)
	if err != nil {
		return err
	}
	document := setup.Document(o.where, o.label, proposal.Items, nil)
	notes := cmd.ErrOrStderr()
	look.report(notes, proposal)
	if o.label == "" {
		o.firstFew = 0
		fmt.Fprintf(notes, "\nno label yet: --label says what is predicted%s\n", orOf(proposal.Classes))
	}
	if _, err := cmd.OutOrStdout().Write(document); err != nil {
		return err
	}
	return look.printFirst(notes, setup.Reading(o.want, string(document)), o.firstFew)
}

func orOf(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return "; of two classes are " + strings.Join(paths, ", ")
}

// registryOf are settings that say how a registry is reached.
func registryOf(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(line string) bool {
		return !strings.HasPrefix(line, "ORIEL_SCHEMA_REGISTRY_")
	})
}

// look is a sample that was looked at.
type look struct {
	setup.Sample
	encoding setup.Encoding // of records as they are
	inner    setup.Encoding // without an outer framing
	inside   [][]byte       // records without it
	columns  []setup.Column
	readable int
}

// look reads the sample and finds its encoding and columns.
func (o sampleOptions) look(ctx context.Context, environ []string) (*look, error) {
	l := &look{}
	var err error
	switch {
	case len(o.files) == 0 && o.topic == "":
		return nil, exit.WrongUse("--sample, --topic: one of them says where records are")
	case o.records < 1:
		return nil, exit.WrongUse("--records: %d is not a number of records", o.records)
	case len(o.files) == 0:
		host := service.ThisHost(version())
		host.Environ = environ
		err = host.WithClient(func(client *kafka.Client) error {
			topic, err := service.Describe(ctx, client, o.topic)
			if err == nil {
				l.Sample, err = setup.ReadTopic(ctx, client, topic, o.records)
			}
			return err
		})
	}
	for _, name := range o.files {
		part, problem := setup.ReadFile(name, o.records)
		err = errors.Join(err, problem)
		l.Records = append(l.Records, part.Records...)
	}
	if err != nil {
		return nil, err
	}
	if len(l.Records) == 0 {
		return nil, fmt.Errorf("the sample has no record: send some, or take --sample FILE")
	}
	if l.encoding, err = o.encoded(ctx, environ, l.Records); err != nil {
		return nil, err
	}
	l.inner, l.inside = l.encoding.Inside(l.Records)
	if l.columns, l.readable, err = l.inner.Columns(l.inside); err != nil {
		return nil, err
	}
	if l.readable == 0 {
		return nil, fmt.Errorf("none of %d records can be read as %s", len(l.Records), l.encoding)
	}
	return l, nil
}

// encoded finds the encoding of records.
func (o sampleOptions) encoded(ctx context.Context, environ []string, records [][]byte) (setup.Encoding, error) {
	encoding := o.encoding
	if o.registry != "" {
		s, err := settings.Load(append(registryOf(environ), "ORIEL_SCHEMA_REGISTRY="+o.registry))
		if err != nil {
			return encoding, err
		}
		config, err := s.Registry()
		if err != nil {
			return encoding, err
		}
		subject := o.subject
		if subject == "" && o.topic == "" {
			return encoding, exit.WrongUse("--subject: it is TOPIC-value only where --topic names a topic")
		} else if subject == "" {
			subject = o.topic + "-value"
		}
		if encoding, err = encoding.Fetch(ctx, config, subject); err != nil {
			return encoding, err
		}
	}
	encoding, err := encoding.Sniff(records)
	if errors.Is(err, setup.ErrNoSchema) {
		return encoding, exit.WrongUse("%w: --schema-file names it, or --registry the schema registry that has it", err)
	}
	return encoding, err
}

// propose makes a mapping of the columns that label and filter leave.
func (l *look) propose(where, label string) (setup.Proposal, error) {
	used, err := setup.Used(where, label)
	if err == nil {
		err = setup.Known(l.columns, used)
	}
	if err != nil {
		return setup.Proposal{}, exit.WrongUse("--where, --label: %w", err)
	}
	return setup.Propose(l.columns, used), nil
}

// report says what was found, by names of members alone.
func (l *look) report(w io.Writer, p setup.Proposal) {
	fmt.Fprintf(w, "%d of %d records are %s\n", l.readable, len(l.Records), l.encoding)
	reportLeft(w, p)
	if len(p.Ranges) > 0 {
		fmt.Fprintf(w, "\nranges to be confirmed: a number from a sample is not public. Put what everybody knows in its place\n"+
			"  ORIEL_FEATURES_RANGE=%s\n", setup.Ranges(p.Ranges))
	}
	fmt.Fprintln(w, "\nLeave out what is known only once the label is. Without --sample of public records, this proposal has seen private ones.")
}

// reportLeft lists what no feature is made of.
func reportLeft(w io.Writer, p setup.Proposal) {
	if len(p.Left) > 0 {
		fmt.Fprintf(w, "\nleft out:\n  %s\n", strings.Join(p.Left, "\n  "))
	}
}

// ownPrinter prints the event decoded last.
type ownPrinter interface{ AppendOwn(dst []byte) []byte }

// printFirst shows the first events as Oriel reads them, and what is wrong with those that are none.
func (l *look) printFirst(w io.Writer, environ []string, n int) error {
	if n <= 0 || environ == nil {
		return nil
	}
	s, err := settings.Load(append(l.inner.Settings(), environ...), settings.Events)
	if err != nil {
		return err
	}
	config, err := s.EventConfig()
	if err != nil {
		return err
	}
	config.Unlabelled = true
	open := schemas.OpenDecoder
	if frozen := l.inner.Schemas; len(frozen) > 0 {
		open = s.Writers()(frozen)
	}
	decoder, err := open(config)
	if err != nil {
		return err
	}
	own, ok := decoder.(ownPrinter)
	if !ok {
		return nil
	}
	fmt.Fprintf(w, "\nthe first %d events as Oriel reads them (contents of your records, for this terminal alone):\n",
		min(n, len(l.inside)))
	var event schemas.Event
	for _, record := range l.inside[:min(n, len(l.inside))] {
		if code := decoder.Decode(&event, record); code != schemas.OK {
			fmt.Fprintf(w, "  no event: %s\n", decoder.Problem(record, code))
			continue
		}
		fmt.Fprintf(w, "  %s\n", own.AppendOwn(nil))
	}
	return nil
}
