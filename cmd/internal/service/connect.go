package service

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/settings/files"
	"oriel/mechanisms/protection"
	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
)

// Load returns what the settings configure: the deployment, of which Client, Topics and Master are not set yet, and the
// guarantee of its streams. It fails if no calibration fits the settings.
func (h Host) Load(needs ...settings.Need) (
	s settings.Settings, d changelog.Deployment, g protection.Guarantee, err error,
) {
	needs = append(needs, settings.Kafka, settings.Deployment, settings.Events, settings.Operator)
	if s, err = settings.Load(h.Environ, needs...); err != nil {
		return s, d, g, err
	}
	d.Config = s.Deployment()
	if d.Model, err = h.Model(s); err != nil {
		return s, d, g, err
	}
	g, err = s.Guarantee(d.Model)
	return s, d, g, err
}

// connect reads the master key, connects to the brokers, and checks the topics that a use names. budget must be nil for
// a command that holds a batch of one topic while it fetches from another, because the command would wait for memory
// that it holds itself. The command fails if no broker answers within patience; 0 means no limit. onRetry is called for
// each request that is tried again.
func (h Host) connect(
	ctx context.Context, s settings.Settings, d changelog.Deployment, use deployment.Use, budget *memory.Budget,
	patience time.Duration, onRetry func(string, error),
) (_ changelog.Deployment, err error) {
	if d.Master, err = files.MasterKey(ctx, s.MasterKeyFile, s.MasterKeyCommand); err != nil {
		return d, err
	}
	if d.Client, err = h.Dial(s, budget, patience, onRetry); err != nil {
		return d, err
	}
	if d.Topics, err = deployment.CheckTopics(ctx, d.Client, d.Config, use); err != nil {
		err = errors.Join(err, d.Client.Close())
	}
	return d, err
}

// clientPatience is the time that commands other than `oriel run` wait for a first answer of the brokers. It equals the
// limit of Kafka's own tools (max.block.ms and default.api.timeout.ms). The service waits without limit, because it may
// start before its brokers.
const clientPatience = time.Minute

// Dial prepares the Kafka client of a command. Its requests fail if no broker answers within patience (0: no limit).
// onRetry is called for each request that is tried again.
func (h Host) Dial(
	s settings.Settings, budget *memory.Budget, patience time.Duration, onRetry func(string, error),
) (*kafka.Client, error) {
	config, err := s.Client()
	if err != nil {
		return nil, err
	}
	if s.SASLMechanism == "plain" && !s.TLS {
		h.logger("warn", s.LogFormat).Warn("the password goes to the brokers in the clear: ORIEL_SASL_MECHANISM=plain without ORIEL_TLS=true")
	}
	config.OnRetry, config.Budget, config.Patience = onRetry, budget, patience
	h.Client(&config)
	return kafka.New(config)
}

// WithClient calls f with a client, for a command that needs only the brokers.
func (h Host) WithClient(f func(*kafka.Client) error) error {
	s, err := settings.Load(h.Environ, settings.Kafka)
	if err != nil {
		return err
	}
	client, err := h.Dial(s, nil, clientPatience, retrying(h.logger("warn", s.LogFormat), notice.Operators, nil))
	if err != nil {
		return err
	}
	return errors.Join(f(client), client.Close())
}

// An operation that fails is logged after it has been tried for retryLogAfter, and from then on once every
// retryLogInterval. A single failure is not logged, because an outage causes ten failures a second in each partition.
const (
	retryLogAfter    = 2 * time.Second
	retryLogInterval = 10 * time.Second
)

// retrying returns a function that logs the operations that fail repeatedly, if the audience may hear of them. It calls
// observe, if not nil, for every retry that the brokers caused.
func retrying(log *slog.Logger, a notice.Audience, observe func(error)) func(string, error) {
	var mu sync.Mutex
	next := map[string]time.Time{} // time from which on an operation may be logged
	last := map[string]time.Time{}
	return func(operation string, err error) {
		if observe != nil && !errors.Is(err, topics.ErrUndecided) {
			observe(err)
		}
		if !a.HearsOf(operation) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if now.Sub(last[operation]) > retryLogInterval { // first failure of a new outage
			next[operation] = now.Add(retryLogAfter)
		}
		last[operation] = now
		if now.After(next[operation]) {
			next[operation] = now.Add(retryLogInterval)
			log.Warn("still trying", "operation", operation, "error", err)
		}
	}
}
