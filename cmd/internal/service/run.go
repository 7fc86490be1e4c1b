package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/net/netutil"

	"oriel/cmd/internal/page"
	"oriel/cmd/internal/score"
	"oriel/cmd/internal/settings"
	"oriel/operators"
	"oriel/pipeline"
	"oriel/pipeline/console"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/metrics"
	"oriel/state"
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
	operator := s.Learner().Operator()
	listener, err := h.Listen("tcp", s.HTTPAddr)
	if err != nil {
		return fmt.Errorf("ORIEL_HTTP_ADDR: %w", err)
	}
	defer func() { _ = listener.Close() }()

	registry := prometheus.NewRegistry()
	if s.RuntimeMetrics {
		log.Warn("metrics of the Go runtime and of the process are exported; these metrics depend on the contents of events")
		named := prometheus.WrapRegistererWith(prometheus.Labels{"deployment": s.Name}, registry)
		named.MustRegister(collectors.NewGoCollector(),
			collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	}
	pages := console.New()
	counts := metrics.New(registry, guarantee, metrics.Process{
		Deployment: s.Name, Version: h.version, GoVersion: runtime.Version(), Waiting: pages.Waiting,
		Coordinates: s.DecisionGauges, Numbers: shownNumbers(operators.NumbersOf(operator)), Registry: d.Model.Writers != nil,
	})
	vectors, err := vectorsOf(s)
	if err != nil {
		return err
	}
	front := page.New(page.About{
		Deployment: s.Name, Version: h.version, Operator: s.Operator, Guarantee: guarantee,
		Numbers: operators.NumbersOf(operator), Experiment: operators.ExperimentOf(operator), Extras: operator.Extras(),
		Sets: s.Operator == "submodular", Vectors: vectors, Reasons: pages.Reasons,
	})
	observed := h.limitMemory(front.Listen(pages.Listen(counts.Listen(logging(log, s.Name, h.Listener)))),
		deployment.Memory(s.MemoryLimit))
	server := pages.Server(registry)
	server.Handler = front.Handler(server.Handler)
	defer front.Start()()
	listener = netutil.LimitListener(listener, console.Connections)
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("pages are not served any more", "error", err)
		}
	}()
	defer func() { _ = server.Close() }()

	d, err = h.connect(ctx, s, d, deployment.ByService, deployment.Memory(s.MemoryLimit).Fetching(), 0,
		retrying(log, func(err error) {
			pages.Retrying()
			if denied, is := errors.AsType[*kafka.CoordinatorError](err); is {
				pages.Denied(denied)
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
	h.Store.DiskFull = diskFull(log, pages.DiskFull)
	store, err := h.Store.Open(s.StateDir,
		state.Identity{Cluster: d.Topics.Cluster, Name: s.Name, Topic: d.Topics.Input.ID})
	if err != nil {
		return fmt.Errorf("ORIEL_STATE_DIR: %w", err)
	}
	if aside := store.SetAside(); aside != nil {
		log.Warn("the local store was damaged and is set aside; the service restores a new one from the changelog", "reason", aside.Reason, "moved_to", aside.Path)
	}
	if h.place != nil {
		d.Config.Instance = h.place(s.StateDir)
	}
	service, err := pipeline.NewService(ctx, d, store, observed)
	if err != nil {
		return errors.Join(err, store.Close())
	}
	announce(log, s, guarantee, listener.Addr(), h.version)
	defer compareRegistry(ctx, s, log, d, counts.Compared)()
	defer context.AfterFunc(ctx, store.StopWaiting)() // a stopping service does not wait for disk space
	working = true
	err = service.Run(ctx)
	unclosed := store.Close()
	if err != nil {
		return errors.Join(err, unclosed)
	}
	if unclosed != nil { // not a failure, because the store is a copy
		log.Warn("the local store is behind the changelog, from which the next start completes it", "error", unclosed)
	}
	return nil
}

// vectorsOf returns the published descriptor of feature vectors. It is empty if events have no features.
func vectorsOf(s settings.Settings) (score.Descriptor, error) {
	if !score.Hashes(s.EventConfig().Body) {
		return score.Descriptor{}, nil
	}
	text, err := s.Descriptor()
	if err != nil {
		return score.Descriptor{}, err
	}
	return score.ParseDescriptor(text)
}

// cancelled reports whether a command ended early because of a signal, which is not a failure.
func cancelled(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Canceled)
}
