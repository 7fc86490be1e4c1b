package traps

import (
	"fmt"
	"io"
	"math"
	"slices"

	"oriel/cmd/internal/audit/overpaid"
	"oriel/cmd/internal/audit/subject"
	"oriel/cmd/internal/settings"
	"oriel/operators"
	"oriel/schemas/event"
)

const (
	mostEpsilon = 20 // largest ε without a warning; e^20 is about 485 million
	leastWindow = 16 // smallest window without a warning, steps
)

// Warn prints each warning on a line.
func Warn(w io.Writer, warnings ...[]string) {
	for _, text := range slices.Concat(warnings...) {
		_, _ = fmt.Fprintf(w, "warning: %s\n", text)
	}
}

// Settings warns about settings that were loaded with all groups that an operator needs. It gives each warning once.
func Settings(all ...settings.Settings) (warnings []string) {
	for _, s := range all {
		for _, text := range ofSettings(s) {
			if !slices.Contains(warnings, text) {
				warnings = append(warnings, text)
			}
		}
	}
	return warnings
}

func ofSettings(s settings.Settings) (warnings []string) {
	if s.Epsilon > mostEpsilon {
		warnings = append(warnings, fmt.Sprintf("ORIEL_EPSILON=%g is above %d: one event may change the odds of anything published by a "+
			"factor of e^%g, which hides nothing. Values from 0.1 to 10 are usual", s.Epsilon, mostEpsilon, s.Epsilon))
	}
	learner := s.Learner()
	mechanism, operator := learner.Mechanism(), learner.Operator()
	if w := mechanism.Scope.Span(); w < leastWindow && !mechanism.Scope.ForLife() {
		warnings = append(warnings, fmt.Sprintf("ORIEL_WINDOW=%d is below %d: ε holds for an event only while it is among the newest %s, and "+
			"its loss grows afterwards. Take at least a day of traffic", w, leastWindow, events(w, mechanism.Batch)))
	}
	if cautious, ok := operator.(operators.Cautious); ok {
		warnings = append(warnings, cautious.Cautions()...)
	}
	return warnings
}

// events returns the number of events in this many steps, as a text.
func events(steps, batch uint64) string {
	if batch > math.MaxUint64/steps {
		batch = math.MaxUint64 / steps
	}
	if n := steps * batch; n > 1 {
		return fmt.Sprintf("%d events", n)
	}
	return "1 event"
}

// Unseen warns about possible problems of events, for commands that read no events.
func Unseen(s settings.Settings) (warnings []string) {
	c := s.EventConfig()
	vector, some := c.Body.Vector()
	m := s.Mapping()
	if m != nil {
		warnings = unreadable(m, s.KindAt)
	}
	if !some || vector.Kind != event.KindFeatures {
		return warnings
	}
	if m != nil {
		return append(warnings, mapped(m, c.Features.Ranges, s.KindAt)...)
	}
	if len(c.Features.Ranges) > 0 {
		return nil
	}
	return []string{"ORIEL_FEATURES_RANGE is not set. A named feature that is a large number, such as \"amount\":1400, then drowns all " +
		"others: if events have such features, give each a public range, for example ORIEL_FEATURES_RANGE=amount:0:5000"}
}

// Overpaid warns about components whose noise is calibrated to more than an event can change. It calibrates the
// mechanism, which takes some milliseconds.
func Overpaid(s settings.Settings) (warnings []string) {
	learner := s.Learner()
	for _, m := range overpaid.Components(learner.Mechanism(), learner.Operator()) {
		warnings = append(warnings, overpaidWarning(s.Operator, m))
	}
	return warnings
}

// overpaidWarning returns the warning about a component: the sensitivity that its noise covers, the sensitivity that
// would suffice, and advice.
func overpaidWarning(operator string, m subject.Move) string {
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
