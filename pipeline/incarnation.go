package pipeline

import (
	"context"
	"strings"

	"oriel/state"
)

// Incarnation reads the incarnation whose records a partition of the deployment holds. sealing tells that every version
// that can open the deployment seals verdicts. It needs neither Model nor the right to write.
func (d Deployment) Incarnation(ctx context.Context, p int32) (inc state.Incarnation, sealing bool, err error) {
	var none state.Incarnation
	sealed, err := findRecord(ctx, d.Client, d.Topics.Changelog, p, state.ManifestKey())
	if err != nil {
		return none, false, err
	}
	if sealed == nil {
		return none, false, missingManifest(p)
	}
	manifest, err := state.OpenManifest(sealed, d.Master)
	if err != nil {
		return none, false, unsealing(p, err)
	}
	if !strings.HasPrefix(manifest.Config, nameLine(d.Config)) {
		return none, false, &StopError{
			Partition: p, Reason: "the changelog is of a deployment of another name",
			Remedy: "Correct ORIEL_NAME or ORIEL_CHANGELOG_TOPIC",
		}
	}
	if err := checkManifestInput(ctx, d.Client, d.Topics, p, manifest, d.Master); err != nil {
		return none, false, err
	}
	record, err := findRecord(ctx, d.Client, d.Topics.Changelog, p,
		manifest.NameKey.Key(state.KindIncarnation, streamName(p)))
	if err != nil {
		return none, false, err
	}
	if record == nil {
		return none, false, &StopError{
			Partition: p, Reason: "the changelog has no incarnation of this partition",
			Remedy: "Name the changelog and verdict topics of one deployment, or restore the changelog",
		}
	}
	inc, err = state.OpenIncarnation(record, d.Master)
	if err != nil {
		return none, false, unsealing(p, err)
	}
	return inc, alwaysSeals(manifest), nil
}

// alwaysSeals reports whether no version from before verdicts can have worked on a deployment: none of them opens a
// manifest that names its input.
func alwaysSeals(m state.Manifest) bool { return m.Input != (state.Input{}) }
