package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/plan"
	"oriel/cmd/internal/program"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms/protection"
	"oriel/schemas/text"
)

// wantOptions has the flags of `oriel plan` that set a wanted error, and the flag for the setting that plan may change
// to reach it.
type wantOptions struct {
	halves map[string]*string // wanted half-width by statistic; the text for a quantile contains the quantile
	near   float64
	view   uint64
	over   uint64
	solve  string
}

// wantable lists the statistics with a flag.
var wantable = []string{"count", "sum", "mean", "variance", quantile}

// quantile is the statistic whose error is in percentage points of rank; its flag also names the quantile, for example
// p90=2.
const quantile = "quantile"

// flags adds the flags to the command.
func (o *wantOptions) flags(cmd *cobra.Command) {
	o.halves = map[string]*string{}
	f := cmd.Flags()
	var names []string
	for _, statistic := range wantable {
		name := "want-" + statistic
		if statistic == quantile {
			o.halves[statistic] = f.String(name, "", "solve for ± of a quantile at 95 %, in points of rank, as `NAME=±`: p90=2")
		} else {
			o.halves[statistic] = f.String(name, "", "solve for `±` of a "+statistic+" at 95 %")
		}
		names = append(names, name)
	}
	cmd.MarkFlagsMutuallyExclusive(names...)
	program.Var(f, &o.near, "near", math.NaN(), "the expected `MEAN` of a cell's values, or the expected quantile: the error there is smaller than the worst one")
	f.Lookup("near").DefValue = "0" // help does not show the default 0
	program.Var(f, &o.view, "view", 0, "the memory in `STEPS` at which the wanted number is read; without this flag the error holds at every memory")
	program.Var(f, &o.over, "over", 0, "number of `EVENTS` that the memory, the horizon or the tumbling window has")
	f.StringVar(&o.solve, "solve", "epsilon", "`WHAT` to solve for: epsilon, memory or batch")
	for _, name := range names {
		exclude(cmd, name, "epsilon", "window")
	}
}

// want returns the error that the flags request; ok is false if no flag requests one.
func (o wantOptions) want(after uint64) (w plan.Target, ok bool, err error) {
	for _, statistic := range wantable {
		if o.halves[statistic] == nil || *o.halves[statistic] == "" {
			continue
		}
		name, s := statistic, *o.halves[statistic]
		if statistic == quantile {
			var found bool
			name, s, found = strings.Cut(s, "=")
			if name = strings.TrimSpace(name); !found || !strings.HasPrefix(name, "p") {
				return w, false, exit.WrongUse("--want-quantile: %q is not a quantile and its ±, such as p90=2", *o.halves[statistic])
			}
		}
		s = strings.TrimLeft(strings.TrimSpace(s), "± ")
		half, err := text.ParseNumber(s)
		if err != nil || !(half > 0) {
			return w, false, exit.WrongUse("--want-%s: %q is not a positive number", statistic, s)
		}
		w = plan.Target{Statistic: name, Half: half, After: after, Near: o.near, View: o.view, Own: o.solve != "epsilon"}
		return w, true, nil
	}
	if o.over > 0 || o.view > 0 || !math.IsNaN(o.near) && o.halves != nil {
		return w, false, exit.WrongUse("--over, --view, --near: each needs a flag for a wanted error, for example --want-count")
	}
	return w, false, nil
}

// mostBatch is the largest batch, in events, that plan tries; mostSteps is the longest memory or horizon.
const mostBatch, mostSteps = 1 << 31, 1 << 22

// solved returns the environment with the setting that reaches the wanted error.
func (o wantOptions) solved(environ []string, w plan.Target) ([]string, plan.Solution, error) {
	given, err := settings.Load(environ, settings.Events, settings.Operator)
	if given.Batch == 0 || given.Batch > mostBatch || given.Mechanism == "" { // the search has no starting point
		return nil, plan.Solution{}, err
	}
	fixed, span, err := o.fixed(given)
	if err != nil {
		return nil, plan.Solution{}, err
	}
	if span == "ORIEL_HORIZON" && given.Rounds > 0 {
		fixed = append(fixed, "ORIEL_ROUNDS=0") // ORIEL_ROUNDS would have to equal the horizon, which changes
	}
	k := plan.SolvedSetting{Setting: "ORIEL_" + strings.ToUpper(o.solve), Greater: true}
	with := func(text string) []string { return append(fixed, k.Setting+"="+text) }
	whole := func(i int) string { return strconv.Itoa(i + 1) }
	switch o.solve {
	case "epsilon":
		k.Values, k.Text = plan.Epsilons()
	case "memory":
		k.Values, k.Text = 1<<20-1, func(i int) string { return strconv.Itoa(i + 2) }
		// A longer memory reduces the error of a ratio, because a cell then has more events. It does not if the target fixes
		// their number.
		k.Greater = w.After == 0 && w.Statistic != "count" && w.Statistic != "sum"
	case "batch":
		k.Values, k.Text = mostBatch, whole
		if span != "" {
			events := o.events(given)
			k.Values = int(max(1, min(events/2, mostBatch)))
			with = func(text string) []string {
				batch, _ := strconv.ParseUint(text, 10, 64)
				return append(fixed, k.Setting+"="+text, span+"="+strconv.FormatUint((events+batch-1)/batch, 10))
			}
		}
	}
	k.Input = func(text string) (plan.Input, error) {
		tried := append(environ[:len(environ):len(environ)], with(text)...)
		s, err := settings.Load(tried, settings.Events, settings.Operator)
		if err != nil {
			return plan.Input{}, err
		}
		learner := s.Learner()
		return plan.Input{Configured: learner.Mechanism(), Operator: learner.Operator(), AgeWeight: s.AgeWeight}, nil
	}
	solution, err := plan.Solve(w, k)
	if err != nil {
		return nil, solution, exit.WrongUse("%w", err)
	}
	var also []string
	for _, line := range with(solution.Value) {
		if !strings.HasPrefix(line, k.Setting+"=") {
			also = append(also, line)
		}
	}
	solution.AlsoSet = strings.Join(also, " ")
	return append(environ[:len(environ):len(environ)], with(solution.Value)...), solution, nil
}

// steps returns the setting that decides how many steps are counted together, and its value: a memory, or the length of
// a stream that ends. Sliding windows have no such setting, because their totals never end. Tumbling windows have none
// either, because each step is counted by itself.
func (o wantOptions) steps(s settings.Settings) (name string, steps uint64) {
	scope := s.Terms().Scope
	if memory, decays := scope.Memory(); decays {
		return "ORIEL_MEMORY", memory
	}
	if end := scope.End(); end != protection.Endless {
		return "ORIEL_HORIZON", end
	}
	return "", 0
}

// events returns how many events are counted together.
func (o wantOptions) events(s settings.Settings) uint64 {
	if o.over > 0 {
		return o.over
	}
	_, steps := o.steps(s)
	return min(steps, mostSteps) * s.Batch
}

// fixed returns the settings that follow from --over, and that stay the same while plan solves for another setting. It
// also returns the name of the setting that steps returns.
func (o wantOptions) fixed(s settings.Settings) (fixed []string, span string, err error) {
	span, _ = o.steps(s)
	windowed := !s.Terms().Scope.ForLife()
	switch {
	case o.solve != "epsilon" && o.solve != "memory" && o.solve != "batch":
		return nil, "", exit.WrongUse("--solve: %q: not epsilon, memory or batch", o.solve)
	case o.solve == "memory" && span != "ORIEL_MEMORY":
		return nil, "", exit.WrongUse("--solve memory: only sums with a memory have one to solve for: ORIEL_WINDOW=lifetime, ORIEL_MECHANISM=blt and ORIEL_MEMORY only")
	case o.solve == "batch" && s.UserID != "":
		return nil, "", exit.WrongUse("--solve batch: with ORIEL_USER_ID, ORIEL_USER_SEPARATION in steps would protect users for another number of events " +
			"at each batch")
	case o.solve == "batch" && windowed:
		return nil, "", exit.WrongUse("--solve batch: the noise of totals since the start does not depend on it; solve for epsilon")
	case o.over > 0 && o.solve == "memory":
		return nil, "", exit.WrongUse("--over: --solve memory finds how many events a memory has")
	case o.over > 0 && windowed:
		return nil, "", exit.WrongUse("--over: totals since the start are of more and more events")
	case o.over > 0 && o.solve == "batch" && span == "":
		return nil, "", exit.WrongUse("--over: --solve batch finds how many events a tumbling window has")
	case o.over > 0 && o.solve == "epsilon" && span == "":
		fixed = []string{fmt.Sprintf("ORIEL_BATCH=%d", o.over)}
	case o.over > 0 && o.solve == "epsilon":
		fixed = []string{fmt.Sprintf("%s=%d", span, (o.over+s.Batch-1)/s.Batch)}
	}
	return fixed, span, nil
}
