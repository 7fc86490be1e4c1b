package service

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/net/netutil"

	"oriel/cmd/internal/page"
	"oriel/cmd/internal/score"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/pipeline/console"
	"oriel/pipeline/deployment"
	"oriel/pipeline/metrics"
	"oriel/pipeline/notice"
	"oriel/pipeline/streams"
)

// shown is everything that shows what the service does: its pages, metrics and log.
type shown struct {
	pages    *console.Console
	counts   *metrics.Metrics
	observed notice.Listener // is told of everything
	stop     func()          // ends the pages
}

// show serves the pages on a listener.
func (h Host) show(
	s settings.Settings, m streams.Model, guarantee protection.Guarantee, log *slog.Logger, listener net.Listener,
) (shown, error) {
	registry := prometheus.NewRegistry()
	if s.RuntimeMetrics {
		log.Warn("metrics of the Go runtime and of the process are exported; these metrics depend on the contents of events")
		named := prometheus.WrapRegistererWith(prometheus.Labels{"deployment": s.Name}, registry)
		named.MustRegister(collectors.NewGoCollector(),
			collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	}
	operator, pages := s.Learner().Operator(), console.New()
	counts := metrics.New(registry, guarantee, metrics.Process{
		Deployment: s.Name, Version: h.version, GoVersion: runtime.Version(), Waiting: pages.Waiting,
		Coordinates: s.DecisionGauges, Numbers: shownNumbers(operators.NumbersOf(operator)), Registry: m.Writers != nil,
	})
	vectors, err := vectorsOf(s)
	if err != nil {
		return shown{}, err
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
	end := front.Start()
	go func() {
		if err := server.Serve(netutil.LimitListener(listener, console.Connections)); !errors.Is(err, http.ErrServerClosed) {
			log.Error("pages are not served any more", "error", err)
		}
	}()
	stop := func() { _ = server.Close(); end() }
	return shown{pages: pages, counts: counts, observed: observed, stop: stop}, nil
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
