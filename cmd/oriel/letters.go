package main

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/settings"
	"oriel/pipeline/changelog"
	"oriel/pipeline/deadletters"
	"oriel/pipeline/deployment"
	"oriel/schemas"
)

func lettersCommand() *cobra.Command {
	var once bool
	cmd := &cobra.Command{
		Use:   "letters",
		Short: "Write records that were no events to the dead-letter topic",
		Long: "Letters opens the sealed verdicts that `oriel run` writes beside its decisions, joins them with the input, and writes each\n" +
			"record that took its place as a null event to the dead-letter topic: key, value and headers, then oriel-reason,\n" +
			"oriel-detail (what is wrong, where it is known), oriel-topic, oriel-partition and oriel-offset. A letter that the topic\n" +
			"would not take is cut and has oriel-truncated and oriel-length; one whose record retention has deleted has oriel-lost and\n" +
			"no content. Where verdicts are missing, one letter with oriel-lost stands for all offsets up to oriel-until, and\n" +
			"oriel-reason says why. Each is written once, whatever crashes; any number of processes may run.\n\n" +
			"It is a process of its own, so that nothing about `oriel run` tells which events were bad. What this one logs and\n" +
			"writes does: it is for whoever may read the input, and so are its topic and its group.\n\n" +
			"It needs ORIEL_BROKERS, ORIEL_NAME, ORIEL_INPUT_TOPIC, ORIEL_MASTER_KEY_FILE and the names of topics that are not the\n" +
			"default ones; of rights, to read the input, the verdicts and the changelog, and to write the dead-letter topic (to read it, too,\n" +
			"where the topic has letters and the group no offset). Run `oriel topics` once before.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h := thisHost()
			if err := h.tune(); err != nil {
				return err
			}
			return writeLetters(cmd.Context(), h, once)
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "end when the letters of all verdicts that there are, of this process's share of partitions, have been written")
	return cmd
}

func writeLetters(ctx context.Context, h host, once bool) error {
	s, err := settings.Load(h.environ, settings.Kafka, settings.Deployment, settings.Letters)
	if err != nil {
		return err
	}
	log := h.logger(s.LogLevel, s.LogFormat)
	c := s.LettersDeployment()
	verdicts, others := c.Memory.Joining()
	d, err := h.connect(ctx, s, c, deployment.ByLetters, others, retrying(log, nil))
	if cancelled(ctx, err) {
		log.Info("told to end before the brokers had answered")
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = d.client.Close() }()
	listen := loggingLetters(log)
	if h.limit != nil {
		assigned := listen.Assigned
		listen.Assigned = func(partitions []int32) {
			assigned(partitions)
			h.limit(c.Memory.Limit(len(partitions), 0))
		}
	}
	listen.Reached = h.heard.Reached
	log.Info("writing letters", "to", c.DeadLetter, "group", c.Group, "version", version())
	deployment := changelog.Deployment{Client: d.client, Config: c, Topics: d.topics, Master: d.master}
	err = deadletters.New(deployment, deadletters.Options{
		Once: once, Listen: listen, Verdicts: verdicts,
		Decoder: func(config string) *schemas.Decoder { return settings.DecoderOf(config, h.environ) },
	}).Run(ctx)
	if err == nil {
		log.Info("letters are written as far as committed, the group is left")
	}
	return err
}

// loggingLetters turns what is told into log lines. They are as private as the input.
func loggingLetters(log *slog.Logger) deadletters.Listener {
	return deadletters.Listener{
		Assigned: func(partitions []int32) { log.Info("partitions assigned", "partitions", partitions) },
		Written: func(w deadletters.Written) {
			level := slog.LevelInfo
			if w.Letters == 0 {
				level = slog.LevelDebug
			}
			log.Log(context.Background(), level, "letters written",
				"partition", w.Partition, "letters", w.Letters, "lost", w.Lost, "up_to", w.To)
		},
		Noted:   func(p int32, text string) { log.Warn(text, "partition", p) },
		Retried: func(p int32, err error) { log.Warn("taking the partition over again", "partition", p, "error", err) },
		Stopped: func(p int32, err error) { log.Error("stopped", "partition", p, "error", err) },
	}
}
