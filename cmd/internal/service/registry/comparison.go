package registry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"oriel/cmd/internal/settings"
	"oriel/pipeline/changelog"
	"oriel/pipeline/kafka"
	"oriel/state"
)

const (
	comparisonInterval = time.Hour
	comparisonTimeout  = 10 * time.Minute
)

// comparison compares the versions of the subject in the schema registry with the frozen schemas, once an hour. Records
// of other versions are null events, and nobody would notice. The comparison only reports: it changes no decision, and
// its times and requests depend on no event. It must not look at the ids that records name.
type comparison struct {
	settings settings.Settings
	log      *slog.Logger
	frozen   func(context.Context) (state.Schemas, error)
	report   func(unfrozen int) // is told the number of versions that are not frozen after each successful comparison

	last string // the last message, which is not repeated
}

// start compares until the returned function is called, which waits for the end of a running comparison.
func (c *comparison) start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var comparing sync.WaitGroup
	comparing.Go(func() {
		for going := true; going; going = kafka.Pause(ctx, comparisonInterval) == nil {
			c.once(ctx)
		}
	})
	return func() { cancel(); comparing.Wait() }
}

// once compares, and logs each finding once.
func (c *comparison) once(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, comparisonTimeout)
	defer cancel()
	unfrozen, err := c.compare(ctx)
	switch {
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return
	case err != nil:
		c.say(slog.LevelInfo, "the schema registry is not compared with the frozen schemas; the next try is in an hour", "error", err)
		return
	}
	c.report(len(unfrozen))
	if len(unfrozen) == 0 {
		c.say(slog.LevelInfo, "every schema of the registry is frozen", "subject", c.settings.Subject())
		return
	}
	c.say(slog.LevelWarn, "the schema registry has versions that are not frozen: their records are null events. Run `oriel schema pull`",
		"subject", c.settings.Subject(), "ids", IDs(unfrozen))
}

// say logs a message, unless it was the last one.
func (c *comparison) say(level slog.Level, message string, facts ...any) {
	if text := fmt.Sprint(message, facts); text != c.last {
		c.last = text
		c.log.Log(context.Background(), level, message, facts...)
	}
}

// compare returns the versions of the registry that are not frozen, or whose id is frozen for another schema.
func (c *comparison) compare(ctx context.Context) (unfrozen state.Schemas, err error) {
	registry, err := client(c.settings)
	if err != nil {
		return nil, err
	}
	versions, err := registry.Versions(ctx, c.settings.Subject())
	if err != nil {
		return nil, err
	}
	frozen, err := c.frozen(ctx)
	if err != nil {
		return nil, err
	}
	for i := range versions {
		v := &versions[i].Schema
		if old := frozen.Find(v.ID); (old == nil || !same(old, v)) && unfrozen.Find(v.ID) == nil {
			unfrozen = append(unfrozen, *v)
		}
	}
	return unfrozen, nil
}

// Compare starts the comparison for a deployment whose records name schemas of a registry.
func Compare(
	ctx context.Context, s settings.Settings, log *slog.Logger, d changelog.Deployment, report func(int),
) (stop func()) {
	if d.Model.Writers == nil {
		return func() {}
	}
	frozen := func(ctx context.Context) (state.Schemas, error) { return d.Frozen(ctx, 0) }
	return (&comparison{settings: s, log: log, frozen: frozen, report: report}).start(ctx)
}
