package traps

import (
	"fmt"

	"oriel/cmd/internal/auditor"
	"oriel/cmd/internal/settings"
)

// Overpaid warns about components whose noise is calibrated to more than an event can change. It calibrates the
// mechanism, which takes some milliseconds.
func Overpaid(s settings.Settings) (warnings []string) {
	learner := s.Learner()
	for _, m := range auditor.Overpaid(learner.Mechanism(), learner.Operator()) {
		warnings = append(warnings, overpaid(s.Operator, m))
	}
	return warnings
}

// overpaid returns the warning about a component: the sensitivity that its noise covers, the sensitivity that would
// suffice, and advice.
func overpaid(operator string, m auditor.Move) string {
	component, excess := "its contributions", "Nothing moves it, so it needs none"
	if m.Name != "" {
		component = "its component " + m.Name
	}
	if m.Distance > 0 {
		excess = fmt.Sprintf("The noise is %.3g times as large as it needs to be", m.Sensitivity/m.Distance)
	}
	return fmt.Sprintf("ORIEL_OPERATOR=%s pays for more than an exchange of one event can move. The noise of %s is for a sensitivity of "+
		"%.4g, and the largest move found is %.4g. %s. Give the component a smaller bound, a quantiser that claims the true "+
		"distances, or a public centre", operator, component, m.Sensitivity, m.Distance, excess)
}
