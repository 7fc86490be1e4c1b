package dialogue

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/plan"
	"oriel/cmd/internal/service"
	"oriel/cmd/internal/setup"
)

// Options are answers that are given in advance, and the input and output of the dialogue. An empty text is no answer.
type Options struct {
	setup.Request
	Brokers string
	Name    string // name of the deployment; empty: the name of the topic
	Folder  string // folder to create; empty: the name of the deployment
	Ranges  string
	Value   string
	Cells   string
	Arms    string
	Numbers string // value of ORIEL_STATISTICS; empty: count, and of a value its sum and its mean
	Effect  string // expected effect of an experiment: EFFECT near MEAN
	Memory  string
	Rate    float64 // events per second; 0: estimated from the sample
	Epsilon string
	Start   string // offset at which the deployment starts: earliest or latest

	Asks  bool // ask a person for answers, and read them from In
	Takes bool // proposals answer if no person does
	In    io.Reader
	Out   io.Writer // receives the guarantee of the deployment and the next commands
	Notes io.Writer // receives questions and findings
	Host  service.Host

	// Solve returns the epsilon at which the settings reach the wanted error.
	Solve func(environ []string, t plan.Target) (epsilon float64, err error)
}

// dialogue is one run of the dialogue.
type dialogue struct {
	Options
	asker    *setup.Asker
	environ  []string // connection settings
	look     *setup.Look
	proposal setup.Proposal
	answers  setup.Answers
}

// Run asks the questions and writes a deployment's folder. If it fails before it writes the first file, it leaves
// nothing behind.
func Run(ctx context.Context, o Options) error {
	if o.Start != "earliest" && o.Start != "latest" {
		return exit.WrongUse("--start: %q is neither earliest nor latest", o.Start)
	}
	if o.Rate < 0 {
		return exit.WrongUse("--rate: %g is below 0", o.Rate)
	}
	d := &dialogue{Options: o, asker: &setup.Asker{In: bufio.NewReader(o.In), Out: o.Notes, Asks: o.Asks, Takes: o.Takes}}
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

// answered marks an error in an answer as an error of the command line.
func answered(answer string, err error) (string, error) {
	if err != nil {
		return "", exit.WrongUse("%w", err)
	}
	return answer, nil
}

func (d *dialogue) ask(q setup.Question) (string, error) { return answered(d.asker.Ask(q)) }

// find asks for the address of the topic, and checks that the folder does not exist yet.
func (d *dialogue) find(context.Context) (err error) {
	brokers := ""
	for _, line := range d.Host.Environ {
		name, value, _ := strings.Cut(line, "=")
		switch {
		case name == "ORIEL_BROKERS":
			brokers = value
		case strings.HasPrefix(name, "ORIEL_TLS"), strings.HasPrefix(name, "ORIEL_SASL_"),
			strings.HasPrefix(name, "ORIEL_OAUTH_"),
			strings.HasPrefix(name, "ORIEL_SCHEMA_REGISTRY_"):
			d.environ = append(d.environ, line)
		}
	}
	if d.Brokers != "" {
		brokers = d.Brokers
	}
	brokers, err = d.ask(setup.Question{
		Flag: "brokers", Given: brokers, Text: "Which Kafka brokers?", Proposal: "localhost:9092",
	})
	if err != nil {
		return err
	}
	d.Topic, err = d.ask(setup.Question{
		Flag: "topic", Given: d.Topic, Text: "Which topic has the events?", Expected: "the name of a topic",
	})
	if err != nil || d.Topic == "" {
		return err
	}
	d.environ = append([]string{"ORIEL_BROKERS=" + brokers}, d.environ...)
	if d.Name == "" {
		d.Name = d.Topic + "-oriel"
	}
	if d.Folder == "" {
		d.Folder = d.Name
	}
	if d.Folder, err = filepath.Abs(d.Folder); err != nil {
		return err
	}
	for _, name := range []string{EnvName, MapName, KeyName} {
		if _, err := os.Lstat(d.at(name)); err == nil {
			return d.exists(name)
		}
	}
	return nil
}
