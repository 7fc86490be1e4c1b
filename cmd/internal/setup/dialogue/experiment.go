package dialogue

import (
	"errors"
	"fmt"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/plan"
	"oriel/cmd/internal/setup"
	"oriel/operators"
)

// power is the probability with which an experiment of ORIEL_TARGET events detects the expected effect.
const power = 0.8

// chooseExperiment asks for the outcome, for the arms with their probabilities, and for the effect that matters.
func (d *dialogue) chooseExperiment() error {
	err := d.chooseValue("Which outcome do arms change? name:low:high with a public range, such as converted:0:1.", "")
	if err != nil {
		return err
	}
	if d.Value != "" && d.answers.Value.Name == "" {
		return exit.WrongUse("--value: an experiment needs an outcome, name:low:high")
	}
	outcome := d.answers.Items
	var arms []setup.Item
	_, err = d.ask(setup.Question{
		Flag: "arms", Given: d.Arms, Confirm: true,
		Text: "Which arms does chance draw, with which probabilities, the control first? variant=A:0.5|B:0.5. Answer only if they are\n" +
			"drawn so, whatever came before, and if each unit, such as a visitor, sends one event",
		Expected: "column=arm:probability|arm:probability, such as variant=A:0.5|B:0.5",
		Check: func(answer string) (err error) {
			if d.answers.Cells, d.answers.Drawn.Propensities, err = setup.ParseArms(answer); err != nil {
				return err
			}
			arms, err = setup.CellItems(d.proposal.Items, d.answers.Cells)
			return err
		},
	})
	if err != nil {
		return err
	}
	d.answers.Items = append(arms, outcome...)
	_, err = d.ask(setup.Question{
		Flag: "effect", Given: d.Effect, Confirm: true,
		Text:     "Which effect matters, near which mean outcome? Both from public or older data: 0.01 near 0.1",
		Expected: "EFFECT near MEAN, such as 0.01 near 0.1",
		Check: func(answer string) (err error) {
			x := &d.answers.Drawn
			x.Effect, x.Near, err = setup.ParseEffect(answer, d.answers.Value)
			return err
		},
	})
	d.answers.Drawn.Target = 100_000
	return err
}

// target sets the number of events after which the experiment detects its effect.
func (d *dialogue) target() error {
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
func (d *dialogue) needed() (*plan.Effect, error) {
	s, err := d.load()
	if err != nil {
		return nil, err
	}
	learner := s.Learner()
	in := plan.Input{Configured: learner.Mechanism(), Operator: learner.Operator()}
	return plan.NewEffect(in, operators.Aim{Effect: d.answers.Drawn.Effect, Probability: power})
}

// finds says in words after how many events the experiment detects its effect.
func (d *dialogue) finds() (string, error) {
	e, err := d.needed()
	if err != nil || !e.Events.Known() {
		return "", errors.Join(err, errors.New("the effect needs more events than the target"))
	}
	return fmt.Sprintf("An effect of %g is found after about %s events with probability %g, looking at any time; without privacy after %s.",
		e.Effect, digits.Four(e.Events), power, digits.Four(e.WithoutPrivacy)), nil
}
