package metrics

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"oriel/mechanisms/protection"
	"oriel/pipeline/notice"
)

// Metrics are the collectors of one process.
type Metrics struct {
	records, steps, decisions, restarts *prometheus.CounterVec
	transactions                        *prometheus.CounterVec
	commits                             *prometheus.HistogramVec
	lag, state, decided                 *prometheus.GaugeVec
	inputs, streams, owned, standby     *prometheus.GaugeVec
	foreign                             *prometheus.GaugeVec
	refused                             *prometheus.CounterVec
	waits, void                         *prometheus.GaugeVec
	unfrozen                            *prometheus.GaugeVec // nil: records name no schemas of a registry

	newest *decisions // nil: no coordinates are shown

	mu    sync.Mutex
	tasks map[int32]bool // partitions of this process, stopped ones included
}

// Process is the part of the metrics that concerns the process, not a partition.
type Process struct {
	Deployment         string // label of every metric, so that metrics of two deployments never mix
	Version, GoVersion string
	Step               time.Duration // length of a step by the clock; 0: steps are numbers of events
	Coordinates        int           // number of coordinates of the newest decision to show for each stream; 0: none
	Registry           bool          // records name schemas of a registry
	Numbers            *Numbers      // names and intervals of coordinates; nil: they have none
	// returns for each reason not to be ready whether it applies
	Waiting func() map[string]bool
}

// New registers the collectors. g is the guarantee of every stream of the deployment.
func New(r prometheus.Registerer, g protection.Guarantee, about Process) *Metrics {
	r = prometheus.WrapRegistererWith(prometheus.Labels{"deployment": about.Deployment}, r)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		r.MustRegister(c)
		return c
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		c := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
		r.MustRegister(c)
		return c
	}
	m := &Metrics{
		records:      counter("oriel_records_total", "Input records taken, valid or not.", "partition"),
		steps:        counter("oriel_steps_total", "Steps closed.", "partition"),
		decisions:    counter("oriel_decisions_total", "Decisions committed.", "partition"),
		decided:      gauge("oriel_last_decision_timestamp_seconds", "Timestamp of the newest decision that this process has committed.", "partition"),
		transactions: counter("oriel_transactions_total", "Kafka transactions by outcome.", "partition", "outcome"),
		restarts:     counter("oriel_restarts_total", "Times a partition was taken over again after an error.", "partition"),
		lag:          gauge("oriel_input_lag_records", "Offsets between the committed position and the stable end of the input.", "partition"),
		state:        gauge("oriel_task_state", "1 for the state that the partition's task is in.", "partition", "state"),
		inputs:       gauge("oriel_input_partitions", "Partitions of the input."),
		streams:      gauge("oriel_streams", "Streams of the input: the number of its partitions, or 1 where the whole topic is one stream."),
		waits:        gauge("oriel_input_awaited", "1 while the stream of the whole topic waits for this partition of the input.", "partition", "input_partition"),
		refused:      counter("oriel_order_records_refused_total", "Records of the order log that this deployment did not write.", "partition"),
		void:         gauge("oriel_order_void_seconds", "Time for which no record of the order log has counted; 0: the newest one counted.", "partition"),
		owned:        gauge("oriel_partitions_owned", "Streams that this process owns."),
		standby:      gauge("oriel_standby_warm", "1 while this process stands by, and its local store follows the changelog."),
		foreign:      gauge("oriel_foreign_members", "Members of the group that do not belong to the deployment."),
		tasks:        map[int32]bool{},
		commits: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "oriel_commit_duration_seconds", Help: "Time from the first request of a transaction to its acknowledged end.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 14),
		}, []string{"partition"}),
	}
	r.MustRegister(m.commits)
	window := float64(g.Scope.Span())
	if g.Scope.ForLife() {
		window = math.Inf(1)
	}
	gauge("oriel_window_steps", "W, the newest steps of each stream that are protected; +Inf if all are, for ever.").WithLabelValues().Set(window)
	if about.Step > 0 {
		gauge("oriel_step_seconds", "Length of a step by the clock.").WithLabelValues().Set(about.Step.Seconds())
	}
	gauge("oriel_epsilon", "Proved epsilon of one window of one stream.").WithLabelValues().Set(g.Epsilon)
	gauge("oriel_delta", "Delta of one window of one stream.").WithLabelValues().Set(g.Delta)
	gauge("oriel_build_info", "The value is always 1; the labels name the build.", "version", "goversion").
		WithLabelValues(about.Version, about.GoVersion).Set(1)
	m.owned.WithLabelValues().Set(0)
	m.standby.WithLabelValues().Set(0)
	if about.Registry {
		m.unfrozen = gauge("oriel_schemas_unfrozen", "Versions in the schema registry that are not frozen, so that their records are null events.")
	}
	m.foreign.WithLabelValues().Set(0)
	if about.Coordinates > 0 {
		m.newest = newDecisions(about.Coordinates, about.Numbers)
		r.MustRegister(m.newest)
	}
	ready(r, about.Waiting)
	return m
}

// Compared records how many versions of the schema registry are not frozen.
func (m *Metrics) Compared(unfrozen int) {
	m.unfrozen.WithLabelValues().Set(float64(unfrozen))
}

// ready exports readiness as /readyz shows it. It is computed at each scrape, even if the brokers cannot be reached.
func ready(r prometheus.Registerer, waiting func() map[string]bool) {
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "oriel_ready", Help: "1 when /readyz says ready."},
		func() float64 {
			return indicator(!slices.Contains(slices.Collect(maps.Values(waiting())), true))
		}))
	for reason := range waiting() {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "oriel_waiting", Help: "1 while the process is not ready for this reason.",
			ConstLabels: prometheus.Labels{"reason": reason},
		}, func() float64 { return indicator(waiting()[reason]) }))
	}
}

// takePartition records whether the process owns a partition.
func (m *Metrics) takePartition(p int32, yes bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if yes {
		m.tasks[p] = true
	} else {
		delete(m.tasks, p)
	}
	m.owned.WithLabelValues().Set(float64(len(m.tasks)))
}

// Listen returns a listener that updates the metrics and then calls the functions of l.
func (m *Metrics) Listen(l notice.Listener) notice.Listener {
	own := notice.Listener{
		Committed: m.committed,
		Aborted:   func(p int32) { m.transactions.WithLabelValues(label(p), "aborted").Inc() },
		Refused:   func(p int32) { m.refused.WithLabelValues(label(p)).Inc() },
		Behind:    func(p int32, lag int64) { m.lag.WithLabelValues(label(p)).Set(float64(lag)) },
		Void:      func(p int32, last time.Duration) { m.void.WithLabelValues(label(p)).Set(last.Seconds()) },
		Restarted: func(p int32, _ error) { m.restarts.WithLabelValues(label(p)).Inc() },
		Standby:   func(s notice.Standby) { m.standby.WithLabelValues().Set(indicator(s == notice.Warm)) },
		Members:   func(foreign, _ []string) { m.foreign.WithLabelValues().Set(float64(len(foreign))) },
		Partitions: func(input, streams int) {
			m.inputs.WithLabelValues().Set(float64(input))
			m.streams.WithLabelValues().Set(float64(streams))
		},
		Waits: func(p, input int32, waits bool) {
			if waits {
				m.waits.WithLabelValues(label(p), label(input)).Set(1)
			} else {
				m.waits.DeleteLabelValues(label(p), label(input))
			}
		},
		State: func(p int32, s notice.TaskState) {
			m.begin(p)
			m.takePartition(p, true)
			for _, other := range []notice.TaskState{notice.Restoring, notice.Running, notice.Halted} {
				m.state.WithLabelValues(label(p), string(other)).Set(indicator(other == s))
			}
		},
		Closed: func(p int32) {
			m.takePartition(p, false)
			if m.newest != nil {
				m.newest.closed(p)
			}
			for _, v := range []*prometheus.GaugeVec{m.lag, m.state, m.decided, m.void} {
				v.DeletePartialMatch(prometheus.Labels{"partition": label(p)})
			}
		},
	}
	if m.newest != nil {
		own.Decided = m.newest.committed
	}
	return notice.Both(own, l)
}

// begin starts a partition's counters at 0, so that their first increase is visible.
func (m *Metrics) begin(p int32) {
	for _, c := range []*prometheus.CounterVec{m.records, m.steps, m.decisions, m.restarts, m.refused} {
		c.WithLabelValues(label(p))
	}
	for _, outcome := range []string{"committed", "aborted"} {
		m.transactions.WithLabelValues(label(p), outcome)
	}
}

func (m *Metrics) committed(c notice.Commit) {
	p := label(c.Partition)
	m.records.WithLabelValues(p).Add(float64(c.Records))
	m.steps.WithLabelValues(p).Add(float64(c.Steps))
	m.decisions.WithLabelValues(p).Add(float64(c.Decisions))
	if c.Decisions > 0 {
		m.decided.WithLabelValues(p).Set(float64(c.Time.UnixMilli()) / 1000)
	}
	m.transactions.WithLabelValues(p, "committed").Inc()
	m.commits.WithLabelValues(p).Observe(c.Duration.Seconds())
	m.lag.WithLabelValues(p).Set(float64(c.Lag))
}

// indicator returns 1 for true and 0 for false.
func indicator(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func label(p int32) string { return strconv.Itoa(int(p)) }

// shownToReaders lists the metrics that readers of decisions may see: what decisions say, the readiness of the process,
// its version, and the guarantee, which is a public setting.
var shownToReaders = []string{
	"oriel_decisions_total", "oriel_steps_total", "oriel_last_decision_timestamp_seconds",
	"oriel_decision", "oriel_decision_member", "oriel_decision_streams_hidden",
	"oriel_number", "oriel_number_low", "oriel_number_high",
	"oriel_ready", "oriel_build_info", "oriel_epsilon", "oriel_delta", "oriel_window_steps", "oriel_step_seconds",
}

// For returns the metrics of g that an audience may see.
func For(a notice.Audience, g prometheus.Gatherer) prometheus.Gatherer {
	if a == notice.Operators {
		return g
	}
	return prometheus.GathererFunc(named(g.Gather, shownToReaders))
}

// named returns a function that gathers the families with one of the names.
func named[F interface{ GetName() string }](gather func() ([]F, error), names []string) func() ([]F, error) {
	return func() ([]F, error) {
		families, err := gather()
		return slices.DeleteFunc(families, func(f F) bool { return !slices.Contains(names, f.GetName()) }), err
	}
}
