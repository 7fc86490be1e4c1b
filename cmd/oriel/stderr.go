package main

import (
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/traps"
	"oriel/schemas"
)

// settingsWarnings are those of all settings, each once.
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

// newWatch returns a Watch for what `oriel produce` sends. It needs no settings: without those that decode events it
// takes features to be where most operators have them.
func newWatch(environ []string) *traps.Watch {
	if s, err := settings.Load(environ, settings.Events); err == nil {
		if events, err := s.Lines().EventConfig(); err == nil {
			return traps.WatchOf(events)
		}
	}
	var ranges []schemas.Range
	for _, line := range environ {
		if text, ok := strings.CutPrefix(line, "ORIEL_FEATURES_RANGE="); ok {
			ranges, _ = schemas.ParseRanges(text) // a command that decodes refuses what is no range
		}
	}
	return traps.NewWatch("features", ranges)
}

// newBar shows progress on a terminal and nothing anywhere else. total is −1 when it is not known.
func newBar(w io.Writer, total int64, what string, bytes bool) *progressbar.ProgressBar {
	if !isTerminal(w) {
		w = io.Discard
	}
	return progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowBytes(bytes),
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSpinnerType(14),
		progressbar.OptionSetSpinnerChangeInterval(0), // no goroutine of the bar's own, which reads its state without a lock
	)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
