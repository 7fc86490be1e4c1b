package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/cobra"
	"golang.org/x/net/netutil"

	"oriel/cmd/internal/plan"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/pipeline"
	"oriel/pipeline/changelog"
	"oriel/pipeline/console"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/metrics"
	"oriel/pipeline/notice"
	"oriel/state"
)

func runCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "run",
		Short: "Run the service: events in, decisions out",
		Long: "Run takes its share of the input's partitions, restores or opens their streams, and commits decisions until it is\n" +
			"told to stop (SIGTERM). Run `oriel topics` with the same settings once before.\n\n" +
			"Settings:\n" + settingsHelp(),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h := thisHost()
			if err := h.tune(); err != nil {
				return err
			}
			return run(cmd.Context(), h)
		},
	}
}

func settingsHelp() string {
	var b strings.Builder
	for _, g := range settings.Groups() {
		if title := g.Title(); title != "" {
			fmt.Fprintf(&b, "\n%s\n", title)
		}
		w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
		for _, v := range g.Variables {
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n\t  %s\n", v.Name, v.Unit, v.Range, v.Initial(), v.Text)
		}
		_ = w.Flush()
	}
	return b.String()
}

// run is the service.
func run(ctx context.Context, h host) (err error) {
	s, err := settings.Load(h.environ, settings.Kafka, settings.Deployment, settings.Service, settings.Events,
		settings.Operator)
	if err != nil {
		return err
	}
	log := h.logger(s.LogLevel, s.LogFormat)
	working := false
	defer func() {
		if !working && cancelled(ctx, err) {
			log.Info("told to end before a partition was assigned: nothing was taken")
			err = nil
		}
	}()
	model, err := h.model(s)
	if err != nil {
		return err
	}
	learner, err := s.Learner()
	if err != nil {
		return err
	}
	operator := learner.Operator()
	config, err := s.DeploymentOf(model)
	if err != nil {
		return err
	}
	guarantee, err := s.Guarantee(model)
	if err != nil {
		return err
	}
	listener, err := h.listen("tcp", s.HTTPAddr)
	if err != nil {
		return fmt.Errorf("ORIEL_HTTP_ADDR: %w", err)
	}
	defer func() { _ = listener.Close() }()

	registry := prometheus.NewRegistry()
	if s.RuntimeMetrics {
		log.Warn("go and process metrics are exported; they depend on the contents of events")
		named := prometheus.WrapRegistererWith(prometheus.Labels{"deployment": s.Name}, registry)
		named.MustRegister(collectors.NewGoCollector(),
			collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	}
	pages := console.New()
	counts := metrics.New(registry, guarantee, metrics.Process{
		Deployment: s.Name, Version: version(), GoVersion: runtime.Version(), Waiting: pages.Waiting,
		Coordinates: s.DecisionGauges, Numbers: shownNumbers(operators.NumbersOf(operator)),
	})
	hear := h.limitMemory(pages.Listen(counts.Listen(logging(log, s.Name, h.heard))), deployment.Memory(s.MemoryLimit))
	server := pages.Server(registry)
	listener = netutil.LimitListener(listener, console.Connections)
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("pages are not served any more", "error", err)
		}
	}()
	defer func() { _ = server.Close() }()

	d, err := h.connect(ctx, s, config, deployment.ByService, deployment.Memory(s.MemoryLimit).Fetching(),
		retrying(log, func(err error) {
			pages.Retrying()
			if denied, is := errors.AsType[*kafka.CoordinatorError](err); is {
				pages.Denied(denied)
			}
		}))
	if err != nil {
		return err
	}
	defer func() { _ = d.client.Close() }()
	// Before the state directory: it does not fit another input either, and says nothing of what to do then.
	if err := changelog.CheckManifests(ctx, d.client, config, d.topics, model, d.master); err != nil {
		return err
	}
	h.store.DiskFull = diskFull(log, pages.DiskFull)
	store, err := h.store.Open(s.StateDir,
		state.Identity{Cluster: d.topics.Cluster, Name: s.Name, Topic: d.topics.Input.ID})
	if err != nil {
		return fmt.Errorf("ORIEL_STATE_DIR: %w", err)
	}
	if aside := store.SetAside(); aside != nil {
		log.Warn("the local store was damaged and is set aside; it is restored from the changelog", "reason", aside.Reason, "moved_to", aside.Path)
	}
	if h.place != nil {
		config.Instance = h.place(s.StateDir)
	}
	service, err := pipeline.NewService(ctx, d.client, config, model, d.topics, d.master, store, hear)
	if err != nil {
		return errors.Join(err, store.Close())
	}
	announce(log, s, guarantee, listener.Addr())
	defer context.AfterFunc(ctx, store.StopWaiting)() // whoever is told to end does not wait for room on a full disk
	working = true
	err = service.Run(ctx)
	unclosed := store.Close()
	if err != nil {
		return errors.Join(err, unclosed)
	}
	if unclosed != nil { // no failure: it is a copy
		log.Warn("the local store is behind the changelog, from which the next start completes it", "error", unclosed)
	}
	return nil
}

// cancelled tells whether a command got no further because it was told to end, which is no failure.
func cancelled(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Canceled)
}

// diskFull logs that the local store waits for room, as often as it says so, and tells hear.
func diskFull(log *slog.Logger, hear func(bool)) func(bool) {
	return func(full bool) {
		hear(full)
		if full {
			log.Warn("ORIEL_STATE_DIR: the disk is full: the local store waits for room, and partitions with it; nothing is lost")
		} else {
			log.Info("ORIEL_STATE_DIR: the disk has room again")
		}
	}
}

// ended logs what a service that was told to end has left behind.
func ended(log *slog.Logger) func(notice.Ending) {
	return func(e notice.Ending) {
		if e.Committed && e.Left {
			log.Info("told to end: what was computed is committed, the group is left")
			return
		}
		if !e.Committed {
			log.Warn("told to end: not all that was computed is known to be committed; whoever takes over computes it again, with the same bytes")
		}
		if !e.Left {
			log.Warn("told to end: the group was not reached; others take the partitions over after ORIEL_SESSION_TIMEOUT")
		}
	}
}

// logging turns what the pipeline tells into log lines of public facts.
func logging(log *slog.Logger, name string, l notice.Listener) notice.Listener {
	l.Assigned = func(partitions []int32) { log.Info("partitions assigned", "partitions", partitions) }
	l.State = func(p int32, s notice.TaskState) { log.Info("task", "partition", p, "state", string(s)) }
	// The guarantee is of the frozen plan: another fit of the same settings may age differently.
	l.Proves = func(p int32, g protection.Guarantee) {
		logAges(log, p, g)
	}
	l.Partitions = func(input int) { log.Info("input", "partitions", input) }
	l.Opening = func(p int32, from int64) {
		log.Warn("opening a FIRST incarnation of this partition: no state, decision, group offset or local store of an earlier one was found. "+
			"If this deployment has released decisions of the partition before, stop it: events would be protected by two noises, and their losses add",
			"name", name, "partition", p, "from_offset", from)
	}
	l.Opened = func(p int32) { log.Info("opened the partition's first incarnation", "partition", p) }
	l.Restarted = func(p int32, err error) { log.Warn("taking the partition over again", "partition", p, "error", err) }
	l.Stopped = func(p int32, err error) { log.Error("stopped", "partition", p, "error", err) }
	l.Members = func(problems []string) {
		for _, text := range problems {
			log.Warn(text)
		}
		if len(problems) == 0 {
			log.Info("the group is this deployment's alone again")
		}
	}
	l.Versions = func(members []string) {
		for _, text := range members {
			log.Warn(text)
		}
		if len(members) == 0 {
			log.Info("the group has no members of other versions any more")
		}
	}
	l.Doubted = func(problem error) {
		if problem != nil {
			log.Warn("something seems to be wrong with the topics; it is looked at again before it is believed", "problem", problem)
			return
		}
		log.Info("nothing is wrong with the topics")
	}
	l.Ended = ended(log)
	l.Note = func(p int32, text string) { log.Warn(text, "partition", p) }
	l.Committed = func(c notice.Commit) {
		log.Debug("committed", "partition", c.Partition, "records", c.Records, "decisions", c.Decisions,
			"lag", c.Lag, "duration", c.Duration)
	}
	return l
}

// logAges logs ε by age: of one unit, and of all events of a unit that has several, which goes on.
func logAges(log *slog.Logger, partition int32, g protection.Guarantee) {
	if name := g.Scope.Words().Age; name != "" {
		log.Info("epsilon "+name, "partition", partition, "epsilon", g.Epsilon, "delta", g.Delta)
		return
	}
	line := func(of string, ages []protection.Age, at func(protection.Age) dp.Budget) {
		values := []any{"partition", partition}
		for _, age := range ages {
			values = append(values, rounded("epsilon_"+age.Figure, at(age).Epsilon))
		}
		log.Info("epsilon by age", append(values, "delta", g.Delta, "of", of)...)
	}
	line(g.Unit.Words().Aged, g.Scope.Logged(), g.AtAge)
	if _, several := g.Unit.EventSeparation(); several {
		all := func(age protection.Age) dp.Budget { return g.AtAll(age.Steps) }
		line("all events of a user since the first", g.Scope.Ages(), all)
	}
}

// rounded is a figure of the log, rounded up as plans show it: a number in JSON, too.
func rounded(name string, x float64) slog.Attr {
	shown, err := strconv.ParseFloat(plan.Upper(x), 64)
	if err != nil || math.IsInf(shown, 0) {
		return slog.String(name, "infinite")
	}
	return slog.Float64(name, shown)
}

func announce(log *slog.Logger, s settings.Settings, g protection.Guarantee, addr net.Addr) {
	promise, numbers := g.Promise()
	values := []any{"mechanism", g.Mechanism}
	for _, n := range numbers {
		values = append(values, n.Name, n.Steps)
	}
	log.Info(promise, append(values, "epsilon", g.Epsilon, "delta", g.Delta,
		"adjacency", g.Unit.Adjacency().String(), "unit", g.Unit.Name())...)
	if s.After != "" {
		log.Warn("ORIEL_AFTER: an event whose step both lives of the deployment release loses √2 µ; decisions state the epsilon of one life",
			"epsilon_of_both", plan.Upper(g.Lives(2).Epsilon), "epsilon", g.Epsilon, "delta", g.Delta)
	}
	if text := dp.DeltaWarning(g.Delta, min(g.Scope.BackgroundSteps(), math.MaxUint64/g.Batch)*g.Batch); text != "" {
		log.Warn(text)
	}
	if separation, several := g.Unit.EventSeparation(); several && separation < g.ExchangeSteps() {
		log.Warn("users are compared across partitions for ORIEL_USER_SEPARATION steps, which is less than the window", "separation_steps", separation)
	}
	if s.SingleReplica {
		log.Warn("ORIEL_ALLOW_SINGLE_REPLICA: one lost broker can lose acknowledged records, and with them the guarantee above")
	}
	log.Info("pages", "address", addr.String(), "version", version(), "started", time.Now().UTC().Format(time.RFC3339))
}
