package trial

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/operators/aggregate/block"
	"oriel/operators/aggregate/interval"
	"oriel/operators/experiment"
	"oriel/operators/setting"
)

// Arms describes where the sums of a release have the outcomes of arms.
type Arms struct {
	Names      []string                 // names of the arms, the control first; empty if there are none
	Treatments int                      // number of cells of each arm
	Cell       func(arm, other int) int // place of a cell of an arm among all cells
	Weights    block.Block              // weights of a cell's columns
	Outcome    string                   // column of the outcomes; "" if events have no value
	Low, High  float64                  // public range of the outcomes
}

// Trial holds the settings of the experiments of a stream. A nil *Trial means that there is no experiment.
type Trial struct {
	Arms
	Propensities []float64 // probability with which each arm is drawn
	Alpha        float64
	Near         float64  // guess of the mean, in units of values
	Target       float64  // expected number of events
	Starts       []uint64 // number of steps before each experiment begins, ascending
	Announced    []uint64 // number of steps that the choice of each start may depend on; 0 for a start in the settings
	Lift         bool
	Horizon      uint64 // number of steps of the stream; 0: it has no end
	Exact        bool   // draws have almost no noise, to show experiments without privacy
}

// Canonical returns the section of params that describes the experiment; it follows the specification.
func (t *Trial) Canonical() string {
	if t == nil {
		return ""
	}
	var shares []string
	for _, p := range t.Propensities {
		shares = append(shares, setting.Decimal(p))
	}
	return "always_valid=" + setting.Decimal(t.Alpha) + "\npropensities=" + strings.Join(shares, "|") +
		"\nnear=" + setting.Decimal(t.Near) + "\ntarget=" + setting.Decimal(t.Target) +
		"\nlift=" + strconv.FormatBool(t.Lift) + "\n" + stepLine + formatStarts(t.Starts) + "\n"
}

// Settings returns the settings of the experiment under a noise law.
func (t *Trial) Settings(law mechanisms.NoiseLaw, batch uint64) experiment.Settings {
	draw := float64(law.Draw * math.Sqrt(float64(t.Treatments))) // the noise of cells is independent
	if t.Exact {
		draw = float64(draw * interval.Almost)
	}
	e := experiment.Settings{
		Propensities: slices.Clone(t.Propensities), Alpha: t.Alpha, Near: (t.Near - t.Low) / (t.High - t.Low),
		Target: t.Target, Events: float64(batch), Start: t.Starts[0], Announced: t.Announced[0],
		Lift:  t.Lift,
		Noise: experiment.Noise{Poles: law.Poles, Residues: law.Residues, Period: law.Period},
		Count: draw / t.Weights.Count, Value: draw / t.Weights.Mean,
		Rounding: float64(law.Rounding*float64(t.Treatments)) / min(t.Weights.Count, t.Weights.Mean),
	}
	if t.Weights.Square > 0 {
		e.Square = draw / t.Weights.Square
	}
	return e
}

// Experiment describes the members that a trial adds to decisions.
func (t *Trial) Experiment() *operators.Experiment {
	x := &operators.Experiment{
		Arms: t.Names, Alpha: t.Alpha, Outcome: t.Outcome, Low: t.Low, High: t.High, Target: t.Target, First: t.Starts[0] + 1,
		Looks: experiment.FirstLook, Lift: t.Lift,
	}
	if len(t.Starts) > 1 {
		x.Steps = t.steps()
	}
	return x
}

// steps returns the first step of each experiment.
func (t *Trial) steps() (steps []uint64) {
	for _, start := range t.Starts {
		steps = append(steps, start+1)
	}
	return steps
}

// Power returns after how many events an experiment detects an effect of the given size in any of its arms. If several
// experiments follow each other, it returns the largest of their numbers, because the noise depends on the step in
// which an experiment starts.
func (t *Trial) Power(law mechanisms.NoiseLaw, batch uint64, aim operators.Aim) (*operators.Power, error) {
	if t == nil {
		return nil, nil
	}
	steps := t.Longest(MaxTargetSteps, t.Horizon)
	s, power := t.Settings(law, batch), operators.Power{}
	if err := checkLaw(s); err != nil {
		return nil, err
	}
	width := t.High - t.Low
	effect, deviation := aim.Effect/width, aim.Deviation/width
	if largest := s.MaxDeviation(); !(deviation >= 0 && deviation <= largest) {
		return nil, fmt.Errorf("deviation %g: outcomes of ORIEL_VALUE with the mean ORIEL_NEAR have one of at most %.4g",
			aim.Deviation, float64(largest*width))
	}
	for i, start := range t.Starts {
		s.Start = start
		for arm := 1; arm < len(s.Propensities); arm++ {
			p := s.Plan(arm, effect, deviation, aim.Probability, steps)
			power.OneLook = max(power.OneLook, p.OneLook)
			if i == 0 && arm == 1 {
				power.WithoutPrivacy, power.Events = p.NoPrivacy, p.AlwaysLook
			}
			power.WithoutPrivacy, power.Events = longer(power.WithoutPrivacy, p.NoPrivacy), longer(power.Events, p.AlwaysLook)
		}
	}
	power.MaxEvents = float64(float64(steps) * float64(batch))
	announced, ahead := s.TargetSteps(), (operators.Announced(batch)+batch-1)/batch
	for range laterStarts {
		if wider := t.wider(s, announced+ahead, announced); wider > 0 {
			power.Later = append(power.Later, operators.LaterStart{StepsAhead: ahead, Wider: wider})
		}
		ahead *= laterFactor
	}
	return &power, nil
}

// `oriel plan` shows laterStarts distances between the announcement of an experiment and its start: the least one, and
// multiples of it.
const (
	laterStarts = 4
	laterFactor = 4
)

// Wider returns operators.Testing's Wider.
func (t *Trial) Wider(law mechanisms.NoiseLaw, batch, step, announced uint64) float64 {
	return t.wider(t.Settings(law, batch), step-1, announced)
}

// wider returns Wider for an experiment after `start` steps.
func (t *Trial) wider(s experiment.Settings, start, announced uint64) float64 {
	s.Start, s.Announced = start, announced
	steps := s.TargetSteps()
	if t.Horizon > 0 {
		steps = min(steps, max(t.Horizon, start)-start)
	}
	if float64(float64(steps)*s.Events) < experiment.FirstLook {
		return 0
	}
	return s.Wider(steps)
}

// checkLaw refuses settings whose noise could make some weights of an experiment negative. Some filters with four poles
// do.
func checkLaw(s experiment.Settings) error {
	if err := s.Validate(); err != nil {
		return fmt.Errorf("aggregate: ORIEL_POLES: %w; leave it out", err)
	}
	return nil
}

// longer returns the larger of two numbers of events. A number of 0 means never, and counts as the largest.
func longer(a, b float64) float64 {
	if a == 0 || b == 0 {
		return 0
	}
	return max(a, b)
}
