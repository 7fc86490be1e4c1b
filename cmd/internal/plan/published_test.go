package plan

import (
	"strings"
	"testing"

	"oriel/cmd/internal/plan/volume"
	"oriel/mechanisms/protection"
)

// TestPublishedBytes checks the size of a decision, the bytes per event, and the bytes per day at a rate. For long
// decisions it checks the advice to make them rarer, which plan gives only if the operator has the setting.
func TestPublishedBytes(t *testing.T) {
	f := func(change func(*Input), want ...string) {
		t.Helper()
		in := configured{"plain", func(*Input) {}}.input()
		in.Rate = 2
		change(&in)
		out := tableOf(t, in)
		for _, text := range want {
			without, has := strings.CutPrefix(text, "no ")
			if strings.Contains(out, without) == has {
				t.Errorf("%q is wrong of\n%s", text, out)
			}
		}
	}
	f(func(in *Input) {
		in.Stream.Published = volume.Published{Bytes: 4426, Decisions: 2, Events: 2, Thinned: 4426, Every: 1}
	},
		"decisions: 2213 B each, 2213 B for each event, 364.7 MiB a day of one stream", "ORIEL_EMIT_EVERY=32 makes it 69 B")
	f(func(in *Input) {
		in.Stream.Published = volume.Published{Bytes: 4426, Decisions: 2, Events: 2, Thinned: 4426, Every: 4}
	},
		"ORIEL_EMIT_EVERY=128 makes it 69 B")
	f(func(in *Input) {
		in.Rate, in.Stream.Published = 0, volume.Published{Bytes: 500, Decisions: 1, Events: 10, Thinned: 500, Every: 1}
	}, "decisions: 500 B each, 50 B for each event\n(at first", "no a day of one stream", "no ORIEL_EMIT_EVERY")
	f(func(in *Input) {
		in.Stream.Published = volume.Published{Bytes: 330, Decisions: 1, Events: 10, Thinned: 330, Every: 1, Fixed: true}
	}, "decisions: 330 B each, 33 B for each event", "no (at first")
	f(func(in *Input) {
		in.Stream.Published = volume.Published{Bytes: 500, Decisions: 1, Events: 1, Thinned: 50, Every: 1}
	},
		"500 B for each event", "no ORIEL_EMIT_EVERY") // the other decisions are actions, one for each event
	f(func(in *Input) {
		in.Stream.Published = volume.Published{Bytes: 500, Decisions: 1, Events: 1, Thinned: 500}
	}, "no ORIEL_EMIT_EVERY")
	f(func(in *Input) {
		in.Configured.Name, in.Configured.Scope, in.Configured.AgeWeight = "once-gaussian", protection.PerStep{}, 0
		in.Stream.Published = volume.Published{Bytes: 500, Decisions: 1, Events: 1, Thinned: 500, Every: 1}
	}, "ORIEL_BATCH=8, longer windows", "no ORIEL_EMIT_EVERY")
	f(func(*Input) {}, "no decisions: ")
}
