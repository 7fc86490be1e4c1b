package dialogue

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/service"
	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/setup"
	"oriel/cmd/internal/setup/sample"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/topics"
)

// Options are answers that are given in advance, and the input and output of the dialogue. An empty text is no answer.
type Options struct {
	setup.Request
	Given      map[string]*string // answers, by Flag
	Name       string             // name of the deployment; empty: the topic's with -oriel
	Folder     string             // folder to create; empty: the name of the deployment
	Statistics string             // value of ORIEL_STATISTICS; empty: count, and of a value its sum and its mean
	Rate       float64            // events per second; 0: estimated from the sample
	Start      string             // value of ORIEL_START; empty: as fits the use

	Asks  bool // ask a person for answers, and read them from In
	Takes bool // proposals answer if no person does
	In    io.Reader
	Out   io.Writer // receives the guarantee of the deployment and the next commands
	Notes io.Writer // receives questions and findings
	Host  service.Host
}

// dialogue is one run of the dialogue.
type dialogue struct {
	Options
	asker    *Asker
	environ  []string // connection settings
	look     *setup.Look
	proposal setup.Proposal
	answers  setup.Answers
	half     float64 // wanted error of the numbers; 0: ε is given
}

// Run asks the questions and writes a deployment's folder. If it fails before it writes the first file, it leaves
// nothing behind.
func Run(ctx context.Context, o Options) error {
	if o.Rate < 0 {
		return exit.WrongUse("--rate: %g is below 0", o.Rate)
	}
	d := &dialogue{Options: o, asker: &Asker{In: bufio.NewReader(o.In), Out: o.Notes, Asks: o.Asks, Takes: o.Takes}}
	d.Given["topic"], d.Given["label"] = &o.Topic, &o.Label
	for _, step := range []func(context.Context) error{d.find, d.sample, d.choose, d.tune, d.write} {
		err := step(ctx)
		if missing := d.asker.Missing(); err == nil && missing != nil {
			err = exit.WrongUse("%w", missing)
		}
		if err != nil {
			_ = os.Remove(d.Folder) // fails, as it should, if the folder contains a file
			return err
		}
	}
	return nil
}

// host returns the host with an environment that has only the settings of the connection.
func (d *dialogue) host() service.Host {
	h := d.Host
	h.Environ = d.environ
	return h
}

// find asks for the address of the topic, and checks that the folder does not exist yet.
func (d *dialogue) find(context.Context) (err error) {
	for _, line := range d.Host.Environ {
		name, value, _ := strings.Cut(line, "=")
		switch {
		case name == "ORIEL_BROKERS" && d.given("brokers") == "":
			d.Given["brokers"] = &value
		case strings.HasPrefix(name, "ORIEL_TLS"), strings.HasPrefix(name, "ORIEL_SASL_"),
			strings.HasPrefix(name, "ORIEL_OAUTH_"), setup.IsOfRegistry(line):
			d.environ = append(d.environ, line)
		}
	}
	if err := d.ask("topic"); err != nil || d.Topic == "" {
		return err
	}
	d.Name = cmp.Or(d.Name, d.Topic+"-oriel")
	if d.Folder, err = filepath.Abs(cmp.Or(d.Folder, d.Name)); err != nil {
		return err
	}
	for _, name := range []string{EnvName, MapName, KeyName} {
		if _, err := os.Lstat(d.at(name)); err == nil {
			return d.exists(name)
		}
	}
	return nil
}

// sample reads records of the topic. If they cannot be read without a schema, it asks for the schema.
func (d *dialogue) sample(ctx context.Context) (err error) {
	if err := os.MkdirAll(d.Folder, 0o700); err != nil {
		return err
	}
	if err := d.unused(ctx); err != nil {
		return err
	}
	if d.look, err = d.Look(ctx, d.environ, d.host().WithClient); errors.Is(err, sample.ErrNoSchema) {
		if err = d.ask("schema"); err == nil && d.asker.Missing() == nil {
			d.look, err = d.Look(ctx, d.environ, d.host().WithClient)
		}
	}
	if err != nil || d.look == nil {
		return err
	}
	d.look.ReportRead(d.Notes)
	if d.look.Encoding.Registry == "" {
		d.environ = slices.DeleteFunc(d.environ, setup.IsOfRegistry)
	}
	if d.proposal, err = d.look.Propose(d.Where, ""); err == nil {
		d.proposal.ReportMixed(d.Notes)
	}
	return err
}

// unused refuses a name whose deployment has topics already: they belong to the key of that deployment, and `oriel
// topics` would refuse the new one. A user without the right to see these topics gets a note instead.
func (d *dialogue) unused(ctx context.Context) error {
	unchecked := func(reason string) {
		fmt.Fprintf(d.Notes, "not checked, because %s: whether the deployment %s has topics already\n", reason, d.Name)
	}
	if len(d.Files) > 0 {
		unchecked("the sample is a file")
		return nil
	}
	return d.host().WithClient(func(client *kafka.Client) error {
		names := []string{d.Name + ".changelog", d.Name + ".decisions", d.Name + ".verdicts"}
		cluster, err := topics.Describe(ctx, client, names...)
		if denied, is := errors.AsType[*kafka.DeniedError](err); is {
			unchecked("you have no right " + denied.Right + " on its topics")
			return nil
		}
		for _, name := range names {
			if _, exists := cluster.Topics[name]; exists {
				return exit.WrongUse("--name: the deployment %s has topics already (%s), which belong to the key that it was opened with. Go on "+
					"with its own oriel.env, or take another --name", d.Name, name)
			}
		}
		return err
	})
}

// choose asks for the use of the topic, and for the answers that this use needs.
func (d *dialogue) choose(context.Context) error {
	err := d.ask("use")
	if err == nil && d.Want == model {
		err = d.ask(model)
	}
	if err != nil {
		return err
	}
	d.answers = setup.Answers{
		Name: d.Name, Topic: d.Topic, Kafka: d.environ, Encoding: d.look.Encoding, Want: d.Want,
		Statistics: d.Statistics, Single: d.look.Replicas > 0 && d.look.Replicas < 3, Appended: d.look.Appended,
		Events: 1 << 16, Start: cmp.Or(d.Start, "earliest"), Epsilon: 1,
	}
	_, notTime := time.Parse(time.RFC3339, d.Start)
	switch byClock := d.answers.ByClock(); {
	case d.Start != "" && d.Start != "latest" && byClock && notTime != nil:
		return exit.WrongUse("--start: %q is neither latest nor a time such as 2026-11-01T00:00:00Z, where numbers may begin", d.Start)
	case d.Start != "" && d.Start != "latest" && d.Start != "earliest" && !byClock:
		return exit.WrongUse("--start: %q is neither earliest nor latest", d.Start)
	case byClock:
		d.answers.Start = cmp.Or(d.Start, d.firstStep())
	case d.Rate == 0:
		d.Rate = d.look.Times.Rate
		for _, note := range d.look.Times.Notes() {
			fmt.Fprintln(d.Notes, note)
		}
	}
	return d.ask(d.Want)
}

// load loads the settings as a command would, with the mapping, which no file has yet.
func (d *dialogue) load(more ...string) (settings.Settings, error) {
	return settings.Load(d.tried(more...), settings.Events, settings.Operator)
}

// tried returns the settings with the mapping, which no file has yet.
func (d *dialogue) tried(more ...string) []string {
	return append(d.answers.Environ(more...), "ORIEL_MAP="+string(d.answers.Document(d.Where, d.Label)))
}
