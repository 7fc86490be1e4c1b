package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"oriel/cmd/internal/schemaregistry"
	"oriel/cmd/internal/settings"
	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/state"
)

// freezeSchemas freezes the registry's schemas for streams that have none. It asks the registry only if some stream has
// none, so that the command otherwise works without the registry.
func freezeSchemas(
	ctx context.Context, s settings.Settings, d changelog.Deployment, leaveOut []uint, done func(what string),
) error {
	if d.Model.Writers == nil {
		return nil
	}
	written, err := d.FreezeSchemas(ctx, func(ctx context.Context) (state.Schemas, error) {
		return WritersSchemas(ctx, s, d, nil, leaveOut)
	})
	if err == nil && written != nil {
		done(fmt.Sprintf("froze schemas of %s: ids %s", s.Subject(), ids(written.Read())))
	}
	return err
}

// WritersSchemas returns all versions of the subject in the registry, of which those in leaveOut are marked. It checks
// that the mapping can read each of the others together with the frozen versions.
func WritersSchemas(
	ctx context.Context, s settings.Settings, d changelog.Deployment, frozen state.Schemas, leaveOut []uint,
) (state.Schemas, error) {
	c, err := s.Registry()
	if err != nil {
		return nil, err
	}
	registry, err := schemaregistry.New(c)
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
				id, s.Subject(), ids(offered))
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
		var broken *settings.SchemaError
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

func ids(all state.Schemas) string {
	var texts []string
	for _, s := range all {
		texts = append(texts, fmt.Sprint(s.ID))
	}
	return strings.Join(texts, ", ")
}

// PullSchemas freezes the schemas that were added to the registry since the last freeze, except those with an id in
// leaveOut.
func PullSchemas(ctx context.Context, h Host, leaveOut []uint) error {
	s, d, err := h.openDeployment(ctx, deployment.ByAll)
	if err != nil {
		return err
	}
	defer func() { _ = d.Client.Close() }()
	if d.Model.Writers == nil {
		return errors.New("ORIEL_SCHEMA_REGISTRY: not set, so that records of this deployment name no schema of a registry")
	}
	frozen, err := d.Frozen(ctx, 0)
	if err != nil {
		return err
	}
	found, err := WritersSchemas(ctx, s, d, frozen, leaveOut)
	if err != nil {
		return err
	}
	added, err := d.AddSchemas(ctx, found)
	known := 0
	for _, a := range added {
		read := a.Schemas.Read()
		if known += len(read); len(read) > 0 {
			fmt.Fprintf(h.Stderr, "stream %s: added ids %s, known from %s on\n",
				d.Config.StreamName(a.Partition), ids(read), places(a.Since))
		}
	}
	if err == nil && known == 0 {
		fmt.Fprintf(h.Stderr, "%s: nothing new; frozen are ids %s\n", s.Subject(), ids(frozen.Read()))
	}
	return err
}

// places describes, by partition, the offset from which on the schemas are known.
func places(since []state.SchemaSince) string {
	texts := make([]string, len(since))
	for i, at := range since {
		texts[i] = fmt.Sprintf("partition %d offset %d", at.Partition, at.Offset)
	}
	return strings.Join(texts, ", ")
}
