package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/settings/records"
	"oriel/pipeline/changelog"
	"oriel/state"
)

// Freeze freezes the registry's schemas for streams that have none. It asks the registry only if some stream has
// none, so that the command otherwise works without the registry.
func Freeze(
	ctx context.Context, s settings.Settings, d changelog.Deployment, leaveOut []uint, done func(what string),
) error {
	if d.Model.Writers == nil {
		return nil
	}
	written, err := d.FreezeSchemas(ctx, func(ctx context.Context) (state.Schemas, error) {
		return Versions(ctx, s, d, nil, leaveOut)
	})
	if err == nil && written != nil {
		done(fmt.Sprintf("froze schemas of %s: ids %s", s.Subject(), IDs(written.Read())))
	}
	return err
}

// Versions returns all versions of the subject in the registry, of which those in leaveOut are marked. It checks
// that the mapping can read each of the others together with the frozen versions.
func Versions(
	ctx context.Context, s settings.Settings, d changelog.Deployment, frozen state.Schemas, leaveOut []uint,
) (state.Schemas, error) {
	registry, err := client(s)
	if err != nil {
		return nil, err
	}
	versions, err := registry.Versions(ctx, s.Subject())
	if err != nil {
		return nil, err
	}
	var offered state.Schemas
	for _, v := range versions {
		offered = append(offered, v.Schema)
	}
	for _, id := range leaveOut {
		of := func(s state.Schema) bool { return uint(s.ID) == id }
		if !slices.ContainsFunc(offered, of) && !slices.ContainsFunc(frozen, of) {
			return nil, fmt.Errorf("--leave-out %d: the registry has no schema of this id in subject %q; it has ids %s",
				id, s.Subject(), IDs(offered))
		}
	}
	all := frozen.Read()
	var found state.Schemas
	for _, v := range versions {
		if found.Find(v.ID) != nil { // two versions of a subject may have the same schema
			continue
		}
		if v.LeftOut = slices.Contains(leaveOut, uint(v.ID)); v.LeftOut {
			found = append(found, v.Schema)
			continue
		}
		if !strings.EqualFold(v.Type, s.Format) {
			return nil, fmt.Errorf("schema registry: %v is %s, not of ORIEL_FORMAT=%s", v, v.Type, s.Format)
		}
		found = append(found, v.Schema)
		if old := all.Find(v.ID); old != nil && !same(old, &v.Schema) {
			return nil, fmt.Errorf("schema registry: %v is another schema than the one that is frozen under this id. Where a registry "+
				"was made anew, its ids start again, and records of old and new ones cannot be told apart: give it the old ids, or "+
				"leave this one out by --leave-out", v)
		} else if old != nil {
			continue
		}
		if frozen != nil { // readers with the frozen schemas must be able to read an added schema
			v.Since = []state.SchemaSince{}
		}
		all = append(all, v.Schema)
	}
	if len(found.Read()) == 0 {
		return nil, fmt.Errorf("schema registry: every version of subject %q is left out", s.Subject())
	}
	if _, err := d.Model.Writers(all)(d.Model.Events); err != nil {
		remedy := "Correct ORIEL_MAP, or leave ids out by --leave-out"
		var broken *records.SchemaError
		if frozen != nil || errors.As(err, &broken) { // the mapping is frozen, or not the cause
			remedy = "Leave ids out by --leave-out"
		}
		return nil, fmt.Errorf("schemas of %s: %w. %s: their records are then null events", s.Subject(), err, remedy)
	}
	return found, nil
}

// same reports whether two schemas have the same text and references.
func same(a, b *state.Schema) bool {
	return a.Text == b.Text && slices.Equal(a.References, b.References)
}

// IDs lists the ids of schemas.
func IDs(all state.Schemas) string {
	var texts []string
	for _, s := range all {
		texts = append(texts, fmt.Sprint(s.ID))
	}
	return strings.Join(texts, ", ")
}
