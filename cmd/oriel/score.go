package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/program"
	"oriel/cmd/internal/score"
	"oriel/cmd/internal/settings"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/topics"
	"oriel/schemas/event"
)

// modelOptions has the flags of commands that read models.
type modelOptions struct{ topic, file, descriptor, stream string }

func (o *modelOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.topic, "topic", "", "decision topic; without this flag the one of the environment's deployment")
	f.StringVar(&o.file, "decisions", "", "`FILE` of decisions, as oriel tail --raw prints them, in place of a topic")
	f.StringVar(&o.descriptor, "descriptor", "", "topic of the descriptor, <name>.descriptor when left out; with --decisions a file, the first\n"+
		"line of the decisions when left out")
	f.StringVar(&o.stream, "stream", "", "stream whose model is used, if the deployment has several streams")
	cmd.MarkFlagsMutuallyExclusive("topic", "decisions")
}

// models calls f with the models, which are kept up to date while f runs.
func (o modelOptions) models(cmd *cobra.Command, follow bool, f func(context.Context, *score.Models) error) error {
	ctx, environ := cmd.Context(), program.Environ(cmd.Context())
	if o.file != "" {
		m, err := o.read()
		if err != nil {
			return err
		}
		return f(ctx, m)
	}
	name := cmp.Or(o.topic, valueIn(environ, "ORIEL_DECISION_TOPIC"))
	if deployment := valueIn(environ, "ORIEL_NAME"); name == "" && deployment != "" {
		name = deployment + ".decisions"
	}
	if name == "" {
		return exit.WrongUse("--topic: missing; name the decision topic, or a file with --decisions, or set ORIEL_NAME")
	}
	return host(cmd).WithClient(func(client *kafka.Client) error {
		t := score.Topics{Client: client}
		var err error
		if t.Decisions, err = topics.Find(ctx, client, name); err != nil {
			return err
		}
		described := cmp.Or(o.descriptor, valueIn(environ, "ORIEL_DESCRIPTOR_TOPIC"), score.DescriptorTopic(name))
		if t.Descriptor, err = topics.Find(ctx, client, described); err != nil {
			return err
		}
		m, next, err := t.Read(ctx)
		if err != nil {
			return err
		}
		if !follow {
			return f(ctx, m)
		}
		work, end := context.WithCancel(ctx)
		followed := make(chan error, 1)
		go func() {
			followed <- t.Follow(work, m, next)
			end()
		}()
		err = f(work, m)
		end()
		return errors.Join(err, <-followed)
	})
}

func (o modelOptions) read() (*score.Models, error) {
	decisions, err := os.Open(o.file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = decisions.Close() }()
	if o.descriptor == "" {
		return score.ReadModels(decisions, nil)
	}
	descriptor, err := os.Open(o.descriptor)
	if err != nil {
		return nil, err
	}
	defer func() { _ = descriptor.Close() }()
	return score.ReadModels(decisions, descriptor)
}

func scoreCommand() *cobra.Command {
	var o modelOptions
	var listen string
	var keyed bool
	cmd := &cobra.Command{
		Use:   "score {--topic TOPIC | --decisions FILE} [--listen HOST:PORT]",
		Short: "Score events with the newest decision",
		Long: "Score answers each event line of standard input with a line of JSON as soon as it is in, or with --listen each POST /score.\n" +
			"An answer names the model by stream and step, its time (ms since 1970; clock: events, or record of the decision) and age\n" +
			"(seconds), the predicted value, the score, and the standard deviation of privacy's noise in it; of a probability to the\n" +
			"first order, with log_odds and log_odds_deviation beside it. deviation_most is there where weights have deviations of\n" +
			"their own: the most that it is, however their noise goes together; deviation takes it as independent. band or labels is\n" +
			"there with ORIEL_BAND: the ends between which a label should be, or the labels of the set, with the level of both.\n\n" +
			"An event to score needs no label. It is read as `oriel run` reads it, by the settings that decode events (ORIEL_MAP among\n" +
			"them). Without any, it is JSON, read by the mapping in the descriptor, or in Oriel's own form if the descriptor has none.\n" +
			"Conditions of the mapping on the label's path are left out, and a record that another condition leaves out has no score.\n" +
			"Where there are several streams, --stream names one, or --keyed finds it by the record key that stands before each event\n" +
			"and a tab; of HTTP the headers Oriel-Stream and Oriel-Key.\n\n" +
			"Events without labels are private: --listen wants an address of its own, answers without a log, and is for those who may\n" +
			"read the events. A line that is no event is answered with an error, which names a rule and nothing of the event.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if listen != "" && keyed {
				return exit.WrongUse("--keyed is for lines; over HTTP the header Oriel-Key has the key")
			}
			return o.models(cmd, true, func(ctx context.Context, m *score.Models) error {
				environ := program.Environ(cmd.Context())
				c, err := scored(environ, m.Descriptor)
				if err != nil {
					return err
				}
				a := score.Asked{Longest: c.MaxBytes, Stream: o.stream, Keyed: keyed}
				if listen != "" {
					if s, err := settings.Load(environ); err == nil && s.HTTPAddr == listen {
						return exit.WrongUse("--listen %s: that is ORIEL_HTTP_ADDR, where public pages are; events to score are private", listen)
					}
					return m.Serve(ctx, cmd.ErrOrStderr(), c, a, listen)
				}
				if a.Decoder, err = event.OpenDecoder(c); err != nil {
					return err
				}
				done := make(chan error, 1)
				go func() { done <- m.Lines(cmd.InOrStdin(), cmd.OutOrStdout(), a) }()
				select {
				case err := <-done:
					return err
				case <-ctx.Done(): // a read of standard input cannot be cancelled, so the command ends without it
					return nil
				}
			})
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&listen, "listen", "", "address of POST /score, in place of lines; not the one of ORIEL_HTTP_ADDR")
	cmd.Flags().BoolVar(&keyed, "keyed", false, "each line is the record key of the event, a tab, and the event")
	return cmd
}

// scored returns the decoder configuration for events to score: that of the environment's settings or, if the
// environment has none, that of the descriptor.
func scored(environ []string, d score.Descriptor) (event.Config, error) {
	var c event.Config
	if valueIn(environ, "ORIEL_OPERATOR") != "" || valueIn(environ, "ORIEL_LOSS") != "" ||
		valueIn(environ, "ORIEL_DIMENSION") != "" {
		s, err := settings.Load(environ, settings.Events)
		if err != nil {
			return c, err
		}
		c = s.Lines().EventConfig()
		if !d.Vector.Same(c) {
			return c, errors.New("the descriptor has other settings of vectors than the environment: ORIEL_DIMENSION, ORIEL_FEATURES_*")
		}
		document, err := s.Document()
		if err != nil {
			return c, err
		}
		if !bytes.Equal(document, d.Map) {
			return c, errors.New("the descriptor has another ORIEL_MAP than the environment")
		}
	} else {
		s, err := settings.Load(environ)
		if err != nil {
			return c, err
		}
		if c, err = d.Events(s.MaxRecordBytes); err != nil {
			return c, err
		}
	}
	c.Unlabelled = true
	return c, nil
}

func weightsCommand() *cobra.Command {
	var o modelOptions
	var top int
	var names string
	cmd := &cobra.Command{
		Use:   "weights {--topic TOPIC | --decisions FILE}",
		Short: "Show the largest weights by name",
		Long: "Weights prints the largest weights of each stream's newest decision, with the standard deviation of privacy's noise in them.\n" +
			"Names come from public settings: the constant, and features with a range. --names adds others, a line each: `carrier=UA`\n" +
			"for a text, `distance` for a number. Names that share a coordinate share a weight.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var more []string
			if names != "" {
				text, err := os.ReadFile(names)
				if err != nil {
					return err
				}
				more = strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
			}
			return o.models(cmd, false, func(_ context.Context, m *score.Models) error {
				m.Named(more)
				models := m.All()
				if o.stream != "" {
					model, err := m.Of(o.stream, nil)
					if err != nil {
						return err
					}
					models = []*score.Model{model}
				}
				if len(models) == 0 {
					return score.ErrNone
				}
				for _, model := range models {
					if err := m.PrintWeights(cmd.OutOrStdout(), model, top); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	o.flags(cmd)
	program.Var(cmd.Flags(), &top, "top", 20, "how many of each stream")
	cmd.Flags().StringVar(&names, "names", "", "file of names of features, a line each")
	return cmd
}
