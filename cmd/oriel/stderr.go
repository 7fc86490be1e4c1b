package main

import (
	"slices"
	"strings"

	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/traps"
	"oriel/schemas/event"
)

// settingsWarnings returns the warnings about all settings, without repetitions.
func settingsWarnings(all []settings.Settings) (warnings []string) {
	for _, s := range all {
		for _, text := range traps.Settings(s) {
			if !slices.Contains(warnings, text) {
				warnings = append(warnings, text)
			}
		}
	}
	return warnings
}

// newWatch returns a Watch for the records that `oriel produce` sends. It works without settings: it then assumes that
// features are in the member that most operators use.
func newWatch(environ []string) *traps.Watch {
	if s, err := settings.Load(environ, settings.Events); err == nil {
		return traps.WatchOf(s.Lines().EventConfig())
	}
	var ranges []event.Range
	for _, line := range environ {
		if text, ok := strings.CutPrefix(line, "ORIEL_FEATURES_RANGE="); ok {
			// produce also sends records with a malformed range; commands that decode refuse it
			ranges, _ = event.ParseRanges(text)
		}
	}
	return traps.NewWatch("features", ranges)
}
