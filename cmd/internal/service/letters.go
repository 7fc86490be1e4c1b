package service

import (
	"context"
	"log/slog"

	"oriel/cmd/internal/settings"
	"oriel/pipeline/changelog"
	"oriel/pipeline/deadletters"
	"oriel/pipeline/deployment"
	"oriel/pipeline/notice"
	"oriel/schemas/event"
	"oriel/state"
)

// WriteLetters writes a dead letter for each record that was not a valid event, until ctx is cancelled. If once is
// true, it returns when the dead letters of all record statuses that exist at the start are written.
func WriteLetters(ctx context.Context, h Host, once bool) error {
	s, err := settings.Load(h.Environ, settings.Kafka, settings.Deployment, settings.Letters)
	if err != nil {
		return err
	}
	log := h.logger(s.LogLevel, s.LogFormat)
	c := s.LettersDeployment()
	verdicts, others := c.Memory.Joining()
	d := changelog.Deployment{Config: c}
	d, err = h.connect(ctx, s, d, deployment.ByLetters, others, clientPatience, retrying(log, notice.Operators, nil))
	if cancelled(ctx, err) {
		log.Info("asked to stop before the brokers had answered")
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = d.Client.Close() }()
	listen := loggingLetters(log)
	if h.limit != nil {
		assigned := listen.Assigned
		listen.Assigned = func(partitions []int32) {
			assigned(partitions)
			h.limit(c.Memory.Limit(len(partitions), 0, 0))
		}
	}
	listen.Reached = h.Listener.Reached
	log.Info("writing letters", "to", c.DeadLetter, "group", c.Group, "version", h.version)
	err = deadletters.New(d, deadletters.Options{
		Once: once, Listen: listen, Verdicts: verdicts,
		Decoder: func(config string, frozen func() (state.Schemas, error)) event.Decoder {
			return settings.DecoderOf(config, h.Environ, frozen)
		},
	}).Run(ctx)
	if err == nil {
		log.Info("letters are written up to the committed offset, and the process has left the group")
	}
	return err
}

// loggingLetters returns a listener that logs the progress of dead letters. Its lines are as private as the input.
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
