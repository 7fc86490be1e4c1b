package observe

import (
	"log/slog"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/pipeline/notice"
	"oriel/pipeline/order"
)

// ended returns a function that logs what a service left unfinished when it was asked to stop.
func ended(log *slog.Logger) func(notice.Ending) {
	return func(e notice.Ending) {
		if e.Committed && e.Left {
			log.Info("asked to stop: everything computed is committed, and the process has left the group")
			return
		}
		if !e.Committed {
			log.Warn("asked to stop: it is not known whether everything computed is committed; the next owner computes the rest again, with the same bytes")
		}
		if !e.Left {
			log.Warn("asked to stop: the group was not reached; other processes take the partitions over after ORIEL_SESSION_TIMEOUT")
		}
	}
}

// logging returns a listener that logs the pipeline's notices as lines of facts that the audience may see.
func logging(log *slog.Logger, name string, a notice.Audience) (l notice.Listener) {
	l.Assigned = func(partitions []int32) { log.Info("partitions assigned", "partitions", partitions) }
	l.State = func(p int32, s notice.TaskState) { log.Info("task", "partition", p, "state", string(s)) }
	l.Standby = func(s notice.Standby) {
		if s != notice.NoStandby {
			log.Info("standing by: another process has the stream", "local_store", string(s))
		}
	}
	// The guarantee must come from the frozen calibration, because another fit of the same settings may have another ε at
	// large ages.
	l.Proves = func(p int32, g protection.Guarantee) {
		logAges(log, p, g)
	}
	l.Partitions = func(input, streams int) { log.Info("input", "partitions", input, "streams", streams) }
	l.Waits = func(p, input int32, waits bool) {
		if waits {
			log.Warn("the stream waits for a partition of the input, whose records are next in the order: "+
				"it has no leader, or its leader does not have them yet", "partition", p, "input_partition", input)
			return
		}
		log.Info("the stream does not wait for the partition of the input any more", "partition", p, "input_partition", input)
	}
	l.Void = void(log)
	l.Opening = func(p int32, from int64) {
		facts := []any{"name", name, "partition", p}
		if from != notice.Hidden {
			facts = append(facts, "from_offset", from)
		}
		log.Warn("opening a FIRST incarnation of this partition: no state, decision, group offset or local store of an earlier one was found. "+
			"If this deployment has released decisions of the partition before, stop it: events would be protected by two noises, and their losses add",
			facts...)
	}
	l.Opened = func(p int32) { log.Info("opened the partition's first incarnation", "partition", p) }
	l.Restarted = func(p int32, err error) { log.Warn("taking the partition over again", "partition", p, "error", err) }
	l.Stopped = func(p int32, err error) { log.Error("stopped", "partition", p, "error", err) }
	l.Members = func(foreign, problems []string) {
		for _, text := range slices.Concat(foreign, problems) {
			log.Warn(text)
		}
		if len(foreign)+len(problems) == 0 {
			log.Info("all members of the group belong to this deployment again")
		}
	}
	l.Doubted = func(problem error) {
		if problem != nil {
			log.Warn("the topics seem to be damaged; the service looks at them again before it stops", "problem", problem)
			return
		}
		log.Info("nothing is wrong with the topics")
	}
	l.DiskFull = func(full bool) {
		if full {
			log.Warn("ORIEL_STATE_DIR: the disk is full: the local store waits for room, and partitions with it; nothing is lost")
		} else {
			log.Info("ORIEL_STATE_DIR: the disk has room again")
		}
	}
	l.Ended = ended(log)
	l.Note = func(p int32, text, detail string) { log.Warn(text+detail, "partition", p) }
	l.Committed = func(c notice.Commit) {
		facts := []any{"partition", c.Partition, "steps", c.Steps, "decisions", c.Decisions}
		if a == notice.Operators {
			facts = append(facts, "records", c.Records, "lag", c.Lag, "duration", c.Duration)
		}
		log.Debug("committed", facts...)
	}
	return l
}

// void returns a function that logs when order records have been void for too long, and when one counts again.
func void(log *slog.Logger) func(int32, time.Duration) {
	told := false
	return func(p int32, last time.Duration) {
		switch {
		case last >= order.VoidFor && !told:
			told = true
			log.Error("order records are void, so the stream stands still: their broker's clock is before the slot that they close, or they name an older leader. "+
				"Set the clocks of brokers and sequencer by NTP; `oriel doctor` compares them", "partition", p, "for", last.Round(time.Second))
		case last == 0 && told:
			told = false
			log.Info("order records count again", "partition", p)
		}
	}
}

// logAges logs ε by age for one event and, if the unit of privacy has several events, for a unit that has events all
// the time.
func logAges(log *slog.Logger, partition int32, g protection.Guarantee) {
	if name := g.Words().Age; name != "" {
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
	line(g.Words().Aged, g.Words().Logged, g.AtAge)
	if _, several := g.Unit.EventSeparation(); several {
		all := func(age protection.Age) dp.Budget { return g.AtAll(age.Steps) }
		line("all events of a user since the first", g.Words().Ages, all)
	}
}

// rounded returns a figure for the log, rounded up as `oriel plan` shows it. In JSON it is a number.
func rounded(name string, x float64) slog.Attr {
	shown, err := strconv.ParseFloat(digits.Upper(x), 64)
	if err != nil || math.IsInf(shown, 0) {
		return slog.String(name, "infinite")
	}
	return slog.Float64(name, shown)
}

// Announce logs the guarantee and the warnings with which a service starts.
func Announce(log *slog.Logger, s settings.Settings, g protection.Guarantee, addr net.Addr, version string) {
	promise, numbers := g.Promise()
	values := []any{"mechanism", g.Mechanism}
	if s.ByClock() {
		values = append(values, "step", s.Step)
	}
	for _, n := range numbers {
		if name, steps := strings.CutSuffix(n.Name, "_steps"); steps && s.ByClock() {
			promise = strings.ReplaceAll(promise, n.Name, name)
			values = append(values, name, time.Duration(n.Steps)*s.Step)
			continue
		}
		values = append(values, n.Name, n.Steps)
	}
	log.Info(promise, append(values, "epsilon", g.Epsilon, "delta", g.Delta,
		"adjacency", g.Unit.Adjacency().String(), "unit", g.Unit.Name())...)
	if text := dp.DeltaWarning(g.Delta, g.BackgroundEvents()); text != "" {
		log.Warn(text)
	}
	separation, several := g.Unit.EventSeparation()
	if several && separation < g.ExchangeSteps() && !s.Deployment().WholeTopic() {
		log.Warn("users are compared across partitions for ORIEL_USER_SEPARATION steps, which is less than the window", "separation_steps", separation)
	}
	if s.SingleReplica {
		log.Warn("ORIEL_ALLOW_SINGLE_REPLICA: one lost broker can lose acknowledged records, and with them the guarantee above")
	}
	log.Info("pages", "address", addr.String(), "version", version, "started", time.Now().UTC().Format(time.RFC3339))
}
