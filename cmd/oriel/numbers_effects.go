package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/numbers"
	"oriel/schemas/decision"
)

// collector consumes decisions.
type collector interface {
	Add(d decision.Decision, ms int64) error
	AddLines(r io.Reader) error
	Mixed() time.Duration
	Odd(last time.Duration) (warnings []string)
}

// ofExperiments lists members of decisions that cannot be added over partitions or time.
var ofExperiments = []string{"effect", "lift", "verdict", "effect_e", "effect_p"}

// checkEffects refuses flags that confidence sequences do not allow, for example sums of effects.
func (o numbersOptions) checkEffects() error {
	switch {
	case !o.effects:
		if slices.ContainsFunc(o.statistics, func(s string) bool { return slices.Contains(ofExperiments, s) }) {
			return exit.WrongUse("--statistic: effects, lifts and verdicts of an experiment are not added up; --effects shows them as they stand")
		}
		return nil
	case o.by != nil || o.total:
		return exit.WrongUse("--effects: without --by and --total: an effect is of all events of an arm, and effects are not added up")
	case o.statistics != nil:
		return exit.WrongUse("--effects: without --statistic: decisions of an experiment already name their statistic")
	case !slices.Contains(numbers.EffectFormats, o.format):
		return exit.WrongUse("--format %q: with --effects it must be one of %s", o.format,
			strings.Join(numbers.EffectFormats, ", "))
	}
	return nil
}

// effectsOf returns a collector of effects, and the function that writes the collected effects.
func (o numbersOptions) effectsOf(
	descriptor []byte, clock numbers.Clock, q numbers.Query, read func(collector) error,
) (write func(io.Writer) error, err error) {
	e, err := numbers.NewEffects(descriptor, clock)
	if err != nil {
		return nil, err
	}
	if err := read(e); err != nil {
		return nil, err
	}
	rows, err := e.Rows(q)
	return func(w io.Writer) error { return e.Write(w, o.format, rows) }, err
}

// warnOfMixed warns if the times of decisions go back so far that intervals contain events of others. The bands of
// effects stay right, because each is of the whole experiment until a step.
func warnOfMixed(problems io.Writer, back, every time.Duration, effects bool) {
	if back == 0 {
		return
	}
	what := "intervals"
	if name := map[time.Duration]string{time.Hour: "hours", 24 * time.Hour: "days"}[every]; name != "" {
		what = name
	}
	so := "the intervals of their numbers cover less than 95 %"
	if effects {
		so = "an effect may count events of later ones already; its band holds"
	}
	_, _ = fmt.Fprintf(problems, "warning: times go back by up to %s: %s are mixed, and %s; deploy/NUMBERS.md, Numbers by the hour\n",
		digits.Duration(back.Seconds()), what, so)
}
