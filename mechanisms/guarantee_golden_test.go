package mechanisms_test

import (
	"fmt"
	"testing"

	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest/goldentest"
	"oriel/mechanisms/protection"
)

// TestGoldenGuarantees pins guarantees, which are computed only from the calibration's integers and so must be equal on
// all platforms.
func TestGoldenGuarantees(t *testing.T) {
	var lines []string
	for _, calibration := range append(append(goldenPlans(), goldenComponents()), goldenMemories()...) {
		c := config(calibration.Name, 3)
		c.Contribution = contribution.OneComponent(2, 0.875)
		if calibration.Components != nil {
			c, _ = withComponents(calibration.Name)
		}
		c.Batch, c.Scope = 3, scope(calibration.Name, 4)
		units := []protection.Unit{c.Unit}
		if memory := calibration.Decay.Memory; memory > 0 {
			c.Scope = protection.Decay{Steps: memory}
			units = append(units, protection.User{Exchange: dp.Replace, Separation: 5, Steps: 12})
		}
		for _, c.Unit = range units {
			g, err := calibration.Guarantee(c)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, figures(g))
		}
	}
	goldentest.CheckFile(t, "guarantees.txt", lines)
}

// figures returns the claim of a guarantee, and its losses after one step and at ages up to a million windows or
// memories.
func figures(g protection.Guarantee) string {
	line := fmt.Sprintf("%s %s: epsilon %v, delta %v, mu %v", g.Mechanism, g.Unit.Name(), g.Epsilon, g.Delta, g.Mu)
	if g.Curve == nil {
		return line
	}
	span := g.Scope.Span()
	for _, age := range []uint64{1, span, 10 * span, 1000 * span, 1_000_000 * span} {
		line += fmt.Sprintf("; age %d: %v, mu %v", age, g.At(age).Epsilon, g.Curve.Mu(age))
		if _, several := g.Unit.EventSeparation(); several {
			line += fmt.Sprintf(", all %v, mu %v", g.AtAll(age).Epsilon, g.Curve.(dp.UserCurve).MuAll(age))
		}
	}
	return line
}
