package service

import (
	"context"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/settings"
	"oriel/pipeline"
	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/notice"
)

// WriteOrder writes the order in which a whole topic's partitions are consumed. It returns when ctx is cancelled or the
// deployment is over.
func WriteOrder(ctx context.Context, h Host) error {
	s, err := settings.Load(h.Environ, settings.Kafka, settings.Deployment)
	if err != nil {
		return err
	}
	c := s.Deployment()
	if !c.WholeTopic() || !c.OtherSequencer {
		return exit.WrongUse("`oriel run` writes the order itself, or there is none: oriel order is for ORIEL_STREAM=topic " +
			"with ORIEL_SEQUENCER=other, which all processes of the deployment must have")
	}
	if err := c.Validate(); err != nil {
		return err
	}
	log := h.logger(s.LogLevel, s.LogFormat)
	d := changelog.Deployment{Config: c}
	retried := retrying(log, s.Audience(), nil)
	d, err = h.connect(ctx, s, d, deployment.ByOrder, c.Memory.Fetching(), clientPatience, retried)
	if cancelled(ctx, err) {
		log.Info("asked to stop before the brokers had answered")
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = d.Client.Close() }()
	log.Info("writing the order of the input's partitions", "to", c.Order, "input", c.Input, "version", h.version)
	writer := pipeline.OrderWriter{
		Deployment: d,
		Note:       func(text string) { log.Info(text) },
		Retried:    func(err error) { log.Warn("starting again from the committed state", "error", s.Audience().Error(err)) },
	}
	// Readers must not learn how many records there are.
	if s.Audience() == notice.Operators {
		writer.Appended = func(records int, offsets int64) {
			log.Debug("order appended", "records", records, "offsets", offsets)
		}
	}
	err = writer.Run(ctx)
	if cancelled(ctx, err) {
		log.Info("the order is written as far as the brokers have answered")
		return nil
	}
	return s.Audience().Error(err)
}
