package dialogue

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/plan/decisions"
	"oriel/cmd/internal/plan/statistics"
	"oriel/cmd/internal/plan/volume"
	"oriel/cmd/internal/setup"
	"oriel/operators"
)

// tune computes the settings that follow from the answers. It stops if answers are missing.
func (d *dialogue) tune(context.Context) error {
	switch {
	case d.asker.Missing() != nil:
		return nil
	case d.Want == setup.Numbers:
		return d.quietest()
	case d.Want == setup.Listing:
		d.answers.Mechanism = setup.Laplace // for a name and a step; `oriel plan` compares many steps
	case d.Want == setup.Experiment:
		return d.target()
	}
	return nil
}

// firstStep returns where numbers begin. If records have the brokers' time, the steps of the past day come at once.
func (d *dialogue) firstStep() string {
	if !d.look.Appended {
		return "latest"
	}
	return time.Now().UTC().Add(-24 * time.Hour).Truncate(time.Hour).Format(time.RFC3339)
}

// quietest takes the mechanism with the least noise or, for a wanted error, with the least ε.
func (d *dialogue) quietest() error {
	best, least := d.answers, math.Inf(1)
	for _, mechanism := range []string{setup.Laplace, setup.Gaussian} {
		d.answers.Mechanism = mechanism
		size, err := d.noise()
		if err != nil {
			return err
		}
		if size < least {
			best, least = d.answers, size
		}
	}
	d.answers = best
	return nil
}

// noise returns the half-width of an interval of the numbers. For a wanted error it sets ε, and returns ε.
func (d *dialogue) noise() (size float64, err error) {
	if d.half == 0 {
		return d.error()
	}
	const decades, each = 7, 9000 // ε has four digits, and lies between 10⁻⁴ and 10³
	try := func(i int) bool {
		d.answers.Epsilon, _ = strconv.ParseFloat(fmt.Sprintf("%de%d", each/9+i%each, i/each-7), 64)
		size, err = d.error()
		return err == nil && size <= d.half
	}
	try(sort.Search(decades*each-1, try))
	switch {
	case err != nil:
		return 0, err
	case size > d.half:
		return 0, exit.WrongUse("no ε reaches ± %g of a %s; %g gives ± %s", d.half, d.aim().Statistic, d.answers.Epsilon,
			digits.Upper(size))
	}
	return d.answers.Epsilon, nil
}

// error returns the error of the number that aim names, under the settings.
func (d *dialogue) error() (float64, error) {
	s, err := d.load()
	if err != nil {
		return 0, err
	}
	learner := s.Learner()
	return d.aim().Error(learner.Mechanism(), learner.Operator())
}

// aim names the number whose error the user chooses and sees: a count, a sum or, over many events, another statistic.
func (d *dialogue) aim() statistics.Target {
	names := strings.Split(d.answers.Statistics, ",")
	for i := range names {
		names[i], _, _ = strings.Cut(strings.TrimSpace(names[i]), "*")
	}
	target := statistics.Target{Statistic: names[0], After: 10_000}
	for _, name := range []string{"sum", "count"} {
		if d.answers.Statistics == "" || slices.Contains(names, name) {
			target.Statistic, target.After = name, 0
		}
	}
	return target
}

// advised returns the public settings of the learner that plan derives from the learner's noise.
func (d *dialogue) advised() ([]string, error) {
	if d.Want != setup.Classes {
		return nil, nil
	}
	s, err := d.load("ORIEL_STRONG_CONVEXITY=0.001")
	if err != nil {
		return nil, err
	}
	learner := s.Learner()
	advice, ok, err := decisions.Advise(learner.Mechanism(), learner.Operator(), nil)
	if err != nil || !ok {
		return []string{"ORIEL_STRONG_CONVEXITY=0.001"}, err
	}
	return []string{
		fmt.Sprintf("ORIEL_STRONG_CONVEXITY=%.3g", float64(advice.StrongConvexity)),
		fmt.Sprintf("ORIEL_START_REGULARIZER=%.3g", float64(advice.StartRegularizer)),
	}, nil
}

// thin sets the number of steps from decision to decision as plan advises, because it stays once a stream is opened.
// Fewer decisions may be a little longer than plan expects, so thin asks again.
func (d *dialogue) thin(advised []string) error {
	for range 3 {
		s, err := d.load(advised...)
		if err != nil || s.EmitEvery() == 0 || s.ByClock() {
			return err
		}
		opened, err := volume.Simulate(s)
		if err != nil {
			return err
		}
		every := opened.Published.Advised()
		if every == d.answers.Every {
			break
		}
		d.answers.Every = every
	}
	return nil
}

// power is the probability with which an experiment of ORIEL_TARGET events detects the expected effect.
const power = 0.8

// target sets the number of events after which the experiment detects its effect.
func (d *dialogue) target() error {
	d.answers.Drawn.Target = 100_000
	e, err := d.needed()
	if err != nil {
		return err
	}
	if !e.Events.Known() {
		return exit.WrongUse("--effect: %g takes more than %s events; a larger effect or ε needs fewer", e.Effect, digits.Four(e.Most))
	}
	d.answers.Drawn.Target = setup.TargetFor(float64(e.Events))
	return nil
}

// needed returns the number of events that the effect needs.
func (d *dialogue) needed() (*statistics.Effect, error) {
	s, err := d.load()
	if err != nil {
		return nil, err
	}
	learner := s.Learner()
	aim := operators.Aim{Effect: d.answers.Drawn.Effect, Probability: power}
	return statistics.NewEffect(learner.Mechanism(), learner.Operator(), aim)
}
