package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"oriel/cmd/internal/service/observe"
	"oriel/cmd/internal/service/registry"
	"oriel/cmd/internal/settings"
	"oriel/pipeline"
	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/state"
	"oriel/state/local"
)

// Run runs the service: it takes over partitions and commits decisions until ctx is cancelled.
func Run(ctx context.Context, h Host) (err error) {
	s, d, guarantee, err := h.Load(settings.Service)
	if err != nil {
		return err
	}
	log := h.logger(s.LogLevel, s.LogFormat)
	working := false
	defer func() {
		if !working && cancelled(ctx, err) {
			log.Info("asked to stop before a partition was assigned: no event was taken")
			err = nil
		}
	}()
	listener, err := h.Listen("tcp", s.HTTPAddr)
	if err != nil {
		return fmt.Errorf("ORIEL_HTTP_ADDR: %w", err)
	}
	defer func() { _ = listener.Close() }()
	shown, err := observe.Show(s, d.Model, guarantee, log, listener,
		observe.Process{Version: h.version, Listener: h.Listener, Limit: h.limit})
	if err != nil {
		return err
	}
	defer shown.Stop()

	d, err = h.connect(ctx, s, d, deployment.ByService, deployment.Memory(s.MemoryLimit).Fetching(), 0,
		retrying(log, s.Audience(), func(err error) {
			shown.Pages.Retrying()
			if denied, is := errors.AsType[*kafka.CoordinatorError](err); is {
				shown.Pages.Denied(denied)
			}
		}))
	if err != nil {
		return err
	}
	defer func() { _ = d.Client.Close() }()
	if s, d.Model, _, err = h.AsOpened(ctx, s, d); err != nil {
		return err
	}
	// Check the manifests before the state directory. A local store of another input would fail too, but its error does
	// not say what to do.
	if err := d.CheckManifests(ctx); err != nil {
		return err
	}
	d.Config.CatchUp = h.CatchUp
	h.Store.DiskFull = shown.Observed.DiskFull
	store, err := h.openStore(s, d, log)
	if err != nil {
		return err
	}
	if h.place != nil {
		d.Config.Instance = h.place(s.StateDir)
	}
	service, err := pipeline.NewService(ctx, d, store, shown.Observed)
	if err != nil {
		return errors.Join(err, store.Close())
	}
	observe.Announce(log, s, guarantee, listener.Addr(), h.version)
	defer registry.Compare(ctx, s, log, d, shown.Counts.Compared)()
	defer context.AfterFunc(ctx, store.StopWaiting)() // a stopping service does not wait for disk space
	working = true
	err = service.Run(ctx)
	unclosed := store.Close()
	if err != nil {
		return s.Audience().Error(errors.Join(err, unclosed))
	}
	if unclosed != nil { // not a failure, because the store is a copy
		log.Warn("the local store is behind the changelog, from which the next start completes it",
			"error", s.Audience().Error(unclosed))
	}
	return nil
}

// openStore opens the local store of the deployment.
func (h Host) openStore(s settings.Settings, d changelog.Deployment, log *slog.Logger) (*local.Store, error) {
	store, err := h.Store.Open(s.StateDir,
		state.Identity{Cluster: d.Topics.Cluster, Name: s.Name, Topic: d.Topics.Input.ID})
	if err != nil {
		return nil, fmt.Errorf("ORIEL_STATE_DIR: %w", err)
	}
	if aside := store.SetAside(); aside != nil {
		log.Warn("the local store was damaged and is set aside; the service restores a new one from the changelog", "reason", aside.Reason, "moved_to", aside.Path)
	}
	return store, nil
}

// cancelled reports whether a command ended early because of a signal, which is not a failure.
func cancelled(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Canceled)
}
