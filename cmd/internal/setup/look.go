package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/setup/sample"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/topics"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

// Request says which records form the sample, how they are encoded, and to what use the user wants to put them.
type Request struct {
	Files    []string // files of records
	Topic    string   // topic whose newest records form the sample if there are no files
	Records  int      // largest number of records of the topic, or of each file
	Encoding sample.Encoding
	Registry string // URL of the schema registry; empty: none
	Subject  string // subject in the registry; empty: the subject of the topic's values
	Where    string // condition that selects the records that are events
	Label    string // member that is predicted
	Want     string // use of the topic: Numbers, Classes, Value, Choice or Experiment
	First    int    // number of decoded events to show
}

// Look is a sample with its encoding and columns.
type Look struct {
	sample.Sample
	Encoding sample.Encoding // encoding of the records
	Columns  []Column
	Inner    sample.Encoding // encoding of the records inside the outer framing

	inside [][]byte // the records without the outer framing
	read   sample.Reading
}

// Look reads the sample and finds its encoding and columns. environ must have the settings of the registry. withClient
// calls a function with a client of the brokers.
func (r Request) Look(
	ctx context.Context, environ []string, withClient func(func(*kafka.Client) error) error,
) (*Look, error) {
	l := &Look{}
	var err error
	switch {
	case len(r.Files) == 0 && r.Topic == "":
		return nil, exit.WrongUse("--sample, --topic: give one of the two, which says where records are")
	case r.Records < 1:
		return nil, exit.WrongUse("--records: %d is not a number of records", r.Records)
	case len(r.Files) == 0:
		err = withClient(func(client *kafka.Client) error {
			topic, err := topics.Find(ctx, client, r.Topic)
			if err == nil {
				l.Sample, err = sample.ReadTopic(ctx, client, topic, r.Records)
			}
			return err
		})
	}
	for _, name := range r.Files {
		encoding := r.Encoding
		if r.Registry != "" && encoding.SchemaFile == "" {
			encoding.SchemaFile = r.Registry
		}
		part, problem := encoding.ReadFile(name, r.Records)
		err = errors.Join(err, problem)
		l.Records = append(l.Records, part.Records...)
	}
	if err != nil {
		return nil, err
	}
	if len(l.Records) == 0 {
		return nil, fmt.Errorf("the sample has no record: send some, or take --sample FILE")
	}
	if l.Encoding, err = r.encoded(ctx, environ, l.Records); err != nil {
		return nil, err
	}
	l.Inner, l.inside = l.Encoding.Inside(l.Records)
	if l.Columns, l.read, err = Columns(l.Inner, l.inside); err != nil {
		return nil, err
	}
	if l.read.Readable == 0 {
		return nil, fmt.Errorf("none of %d records can be read as %s; the first, %s", len(l.Records), l.Encoding,
			l.read.Fault)
	}
	return l, nil
}

// IsOfRegistry reports whether a line of the environment is a setting of the schema registry.
func IsOfRegistry(line string) bool { return strings.HasPrefix(line, "ORIEL_SCHEMA_REGISTRY_") }

// encoded returns the encoding of the records, from the request and the registry.
func (r Request) encoded(ctx context.Context, environ []string, records [][]byte) (sample.Encoding, error) {
	encoding := r.Encoding
	if r.Registry != "" {
		lines := []string{"ORIEL_SCHEMA_REGISTRY=" + r.Registry}
		for _, line := range environ {
			if IsOfRegistry(line) {
				lines = append(lines, line)
			}
		}
		s, err := settings.Load(lines)
		if err != nil {
			return encoding, err
		}
		config, err := s.Registry()
		if err != nil {
			return encoding, err
		}
		subject := r.Subject
		if subject == "" && r.Topic == "" {
			return encoding, exit.WrongUse("--subject: the default, TOPIC-value, needs --topic with the name of a topic")
		} else if subject == "" {
			subject = r.Topic + "-value"
		}
		if encoding, err = encoding.Fetch(ctx, config, subject); err != nil {
			return encoding, err
		}
	}
	encoding, err := encoding.Sniff(records)
	if errors.Is(err, sample.ErrNoSchema) {
		return encoding, exit.WrongUse("%w: --schema-file names it, or --registry the schema registry that has it", err)
	}
	return encoding, err
}

// Propose proposes a mapping of the columns that neither the label nor the filter reads.
func (l *Look) Propose(where, label string) (Proposal, error) {
	used, err := Used(where, label)
	if err == nil {
		err = Known(l.Columns, used)
	}
	if err != nil {
		return Proposal{}, exit.WrongUse("--where, --label: %w", err)
	}
	return Propose(l.Columns, used), nil
}

// Report prints the findings. It prints names of members, but no values.
func (l *Look) Report(w io.Writer, p Proposal) {
	l.ReportRead(w)
	p.ReportMixed(w)
	p.ReportLeft(w)
	if len(p.Ranges) > 0 {
		fmt.Fprintf(w, "\nranges to be confirmed: a number from a sample is not public. Put a publicly known value in its place\n"+
			"  ORIEL_FEATURES_RANGE=%s\n", Ranges(p.Ranges))
	}
	fmt.Fprintln(w, "\nRemove each feature that is known only once the label is. Without --sample of public records, this proposal has seen private ones.")
}

// ReportRead says how many records can be read, and why the first of the others cannot.
func (l *Look) ReportRead(w io.Writer) {
	fmt.Fprintf(w, "%d of %d records are %s\n", l.read.Readable, len(l.Records), l.Encoding)
	if l.read.Fault != "" {
		fmt.Fprintf(w, "the first that is not: %s\n", l.read.Fault)
	}
}

// ReportMixed lists the columns whose values are not alike.
func (p Proposal) ReportMixed(w io.Writer) { report(w, "look at these", p.Mixed) }

// ReportLeft lists the omitted columns, with the reasons.
func (p Proposal) ReportLeft(w io.Writer) { report(w, "left out", p.Left) }

func report(w io.Writer, title string, lines []string) {
	if len(lines) > 0 {
		fmt.Fprintf(w, "\n%s:\n  %s\n", title, strings.Join(lines, "\n  "))
	}
}

// ownPrinter prints the last decoded event in the operator's own JSON form.
type ownPrinter interface{ AppendOwn(dst []byte) []byte }

// PrintFirst prints the first events as Oriel reads them, and the problem of each record that is not a valid event.
func (l *Look) PrintFirst(w io.Writer, environ []string, n int) error {
	if n <= 0 || environ == nil {
		return nil
	}
	s, err := settings.Load(append(l.Inner.Settings(), environ...), settings.Events)
	if err != nil {
		return err
	}
	config := s.EventConfig()
	open := event.OpenDecoder
	if frozen := l.Inner.Schemas; len(frozen) > 0 {
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
	var event event.Event
	for _, record := range l.inside[:min(n, len(l.inside))] {
		if code := decoder.Decode(&event, record); code != text.OK {
			fmt.Fprintf(w, "  no event: %s\n", decoder.Problem(record, code))
			continue
		}
		fmt.Fprintf(w, "  %s\n", own.AppendOwn(nil))
	}
	return nil
}

// Reading returns settings that decode the events of a mapping, so that the first events can be shown. It returns nil
// for a use without a mapping. Its settings of learning are placeholders, and must never be written to a file.
func Reading(want, document string) []string {
	lines := []string{"ORIEL_MAP=" + document}
	switch want {
	case "", Classes:
		return append(lines, "ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=logistic", "ORIEL_DIMENSION=32")
	case Value:
		return append(lines, "ORIEL_OPERATOR=ridge", "ORIEL_UPDATE=moments", "ORIEL_DIMENSION=32", "ORIEL_LABEL_RANGE=0:1")
	}
	return nil
}
