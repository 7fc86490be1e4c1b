package observe

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

// Process is the part of the process that is shown, or is told what the service does.
type Process struct {
	Version  string            // version that the pages and metrics show
	Listener notice.Listener   // a further listener besides the log, the metrics and the pages
	Limit    func(bytes int64) // sets the memory limit of the whole process; nil: does nothing
}

// Shown is everything that shows what the service does: its pages, metrics and log.
type Shown struct {
	Pages    *console.Console
	Counts   *metrics.Metrics
	Observed notice.Listener // is told of everything
	Stop     func()          // ends the pages
}

// Show serves the pages on a listener.
func Show(
	s settings.Settings, m streams.Model, guarantee protection.Guarantee, log *slog.Logger, listener net.Listener,
	h Process,
) (Shown, error) {
	registry := prometheus.NewRegistry()
	if s.RuntimeMetrics {
		log.Warn("metrics of the Go runtime and of the process are exported; these metrics depend on the contents of events")
		named := prometheus.WrapRegistererWith(prometheus.Labels{"deployment": s.Name}, registry)
		named.MustRegister(collectors.NewGoCollector(),
			collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	}
	audience := s.Audience()
	operator, pages := s.Learner().Operator(), console.New(audience)
	inMetrics, err := numbersOf(operator, s.Step)
	if err != nil {
		return Shown{}, err
	}
	counts := metrics.New(registry, guarantee, metrics.Process{
		Deployment: s.Name, Version: h.Version, GoVersion: runtime.Version(), Step: s.Step, Waiting: pages.Waiting,
		Coordinates: s.DecisionGauges, Numbers: shownNumbers(inMetrics), Registry: m.Writers != nil,
	})
	onPage, err := numbersOf(operator, s.Step)
	if err != nil {
		return Shown{}, err
	}
	vectors, err := vectorsOf(s)
	if err != nil {
		return Shown{}, err
	}
	front := page.New(page.About{
		Deployment: s.Name, Version: h.Version, Operator: s.Operator, Audience: audience, Step: s.Step, Guarantee: guarantee,
		Numbers: onPage, Experiment: operators.ExperimentOf(operator), Extras: operator.Extras(),
		Sets: s.Operator == "submodular", Vectors: vectors, Reasons: pages.Reasons,
	})
	shown := audience.Limit(front.Listen(pages.Listen(counts.Listen(logging(log, s.Name, audience)))))
	observed := limitMemory(h.Limit, notice.Both(shown, h.Listener), deployment.Memory(s.MemoryLimit))
	server := pages.Server(metrics.For(audience, registry))
	server.Handler = front.Handler(server.Handler)
	end := front.Start()
	go func() {
		if err := server.Serve(netutil.LimitListener(listener, console.Connections)); !errors.Is(err, http.ErrServerClosed) {
			log.Error("pages are not served any more", "error", err)
		}
	}()
	stop := func() { _ = server.Close(); end() }
	return Shown{Pages: pages, Counts: counts, Observed: observed, Stop: stop}, nil
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
