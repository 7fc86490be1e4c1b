package statistics

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/plan/opened"
	"oriel/mechanisms"
	"oriel/operators"
)

// Effect is the number of events that an experiment needs to detect an effect. A number of events beyond the
// experiment's end is null in JSON.
type Effect struct {
	Effect float64 `json:"effect"` // effect to detect, in units of the values
	Power  float64 `json:"power"`
	// deviation of outcomes in an arm, units of values; 0: every outcome is at an end of the range
	Deviation      float64       `json:"deviation,omitempty"`
	Events         digits.Number `json:"events"`
	WithoutPrivacy digits.Number `json:"events_without_privacy"`
	OneLook        digits.Number `json:"events_of_one_look_without_privacy"`
	Most           digits.Number `json:"most_events"`

	LaterStarts []operators.LaterStart `json:"later_starts,omitempty"`
}

// NewEffect computes an Effect for settings that configure an experiment.
func NewEffect(c mechanisms.Config, o operators.Operator, aim operators.Aim) (*Effect, error) {
	tests, ok := o.(operators.Testing)
	if !ok {
		return nil, errors.New("the operator's decisions test no effect; ORIEL_OPERATOR=aggregate does with ORIEL_ALWAYS_VALID")
	}
	m, err := opened.New(c)
	if err != nil {
		return nil, err
	}
	law, err := m.Opened.NoiseLaw(0)
	if err != nil {
		return nil, err
	}
	p, err := tests.Power(law, c.Batch, aim)
	switch {
	case err != nil:
		return nil, err
	case p == nil:
		return nil, errors.New("there is no experiment; ORIEL_ALWAYS_VALID=0.05 makes one")
	}
	known := func(x float64) digits.Number {
		if x == 0 {
			return digits.Number(math.NaN())
		}
		return digits.Number(x)
	}
	return &Effect{
		Effect: aim.Effect, Power: aim.Probability, Deviation: aim.Deviation, Events: known(p.Events),
		WithoutPrivacy: known(p.WithoutPrivacy), OneLook: known(p.OneLook), Most: digits.Number(p.MaxEvents),
		LaterStarts: p.Later,
	}, nil
}

// Print writes the Effect as readable text.
func (e *Effect) Print(w io.Writer) error {
	events := func(n digits.Number) string {
		if !n.Known() {
			return fmt.Sprintf("more than %s events", digits.Four(e.Most))
		}
		return fmt.Sprintf("%.0f events", float64(n))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "An effect of %g is found with probability %g, looking at any time, after\n", e.Effect, e.Power)
	fmt.Fprintf(&b, "  %s as configured\n", events(e.Events))
	fmt.Fprintf(&b, "  %s without privacy\n", events(e.WithoutPrivacy))
	fmt.Fprintf(&b, "  %s without privacy, looking once, at the end\n", events(e.OneLook))
	b.WriteString("An arm is found when its interval leaves 0 out.")
	if e.Effect > 0 {
		b.WriteString(" A verdict needs about an eighth fewer events.")
	}
	outcomes := "be 0 or 1\nin units of ORIEL_VALUE's range, with the mean ORIEL_NEAR in the control"
	if e.Deviation > 0 {
		outcomes = fmt.Sprintf("have\nthe standard deviation %g in each arm, and the mean ORIEL_NEAR in the control", e.Deviation)
	}
	b.WriteString(" Outcomes are taken to " + outcomes + ".\n")
	if len(e.LaterStarts) > 0 {
		b.WriteString("An experiment that `oriel experiment next` adds may have been started because of what was seen. To allow for that, its\n" +
			"intervals are wider at ORIEL_TARGET events than those of an experiment in ORIEL_EXPERIMENT_STEP:\n")
		for _, l := range e.LaterStarts {
			fmt.Fprintf(&b, "  %s wider if it starts %d steps after the command\n", percent(l.Wider), l.StepsAhead)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// percent returns by how many percent a factor is above 1, rounded up to a tenth.
func percent(factor float64) string { return fmt.Sprintf("%.1f %%", math.Ceil((factor-1)*1000)/10) }
