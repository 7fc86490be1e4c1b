package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/service/registry"
	"oriel/cmd/internal/settings"
	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/notice"
	"oriel/state"
)

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
	found, err := registry.Versions(ctx, s, d, frozen, leaveOut)
	if err != nil {
		return err
	}
	added, err := d.AddSchemas(ctx, found)
	known := 0
	for _, a := range added {
		read := a.Schemas.Read()
		if known += len(read); len(read) > 0 {
			fmt.Fprintf(h.Stderr, "stream %s: added ids %s, known from %s on\n",
				d.Config.StreamName(a.Partition), registry.IDs(read), places(a.Since))
		}
	}
	if err == nil && known == 0 {
		fmt.Fprintf(h.Stderr, "%s: nothing new; frozen are ids %s\n", s.Subject(), registry.IDs(frozen.Read()))
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

// NextExperiment starts the next experiment of each of the deployment's streams at the given step, or at the first
// possible one if step is 0. It prints the number and the first step of each stream's experiment, and what its start
// costs in width.
func NextExperiment(ctx context.Context, h Host, out io.Writer, step uint64) error {
	s, d, err := h.openDeployment(ctx, deployment.ByAll)
	if err != nil {
		return err
	}
	defer func() { _ = d.Client.Close() }()
	learner := s.Learner()
	given, err := d.NextExperiment(ctx, learner, step)
	for _, added := range given {
		_, _ = fmt.Fprintf(out, "stream %s: experiment %d starts with step %d, %d steps ahead\n  %s\n",
			d.Config.StreamName(added.Partition), added.Number, added.Step, added.Step-1-added.Announced, costOf(added))
	}
	return err
}

// costOf says what the start of an experiment costs in width.
func costOf(added changelog.AddedExperiment) string {
	if added.Wider == 0 {
		return "ORIEL_HORIZON ends before its first look, so it will never have a band."
	}
	return fmt.Sprintf("Its start may have been chosen after looking at decisions, so at ORIEL_TARGET events its bands are %.1f %% wider.",
		math.Ceil((added.Wider-1)*1000)/10)
}

// End ends the deployment for good, and writes the offsets of the input at which it stopped, in the form that
// ORIEL_START reads. name must be the deployment's, because nothing undoes the end. skip is as for
// changelog.Deployment.End.
func End(ctx context.Context, h Host, out io.Writer, name string, skip bool) error {
	s, d, _, err := h.Load(settings.Keyless)
	if err != nil {
		return err
	}
	if name != s.Name {
		return exit.WrongUse("%q: ORIEL_NAME is %q; name the deployment that you end, because nothing undoes it", name, s.Name)
	}
	client, err := h.Dial(s, nil, clientPatience, retrying(h.logger("warn", s.LogFormat), notice.Operators, nil))
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	d.Client = client
	c := d.Config
	if d.Topics, err = deployment.DescribeTopics(ctx, client, c); err != nil {
		return err
	}
	offsets, err := d.End(ctx, skip)
	if err != nil {
		return err
	}
	fmt.Fprintf(h.Stderr, "%s has ended for good. A new deployment with these lines in the file of ORIEL_START uses none of its records.\n", c.Name)
	if s.ByClock() {
		fmt.Fprintln(h.Stderr, "With ORIEL_STEP, open it under ORIEL_START=latest instead, which uses no record that is there before.")
	} else {
		fmt.Fprintf(h.Stderr, "Last decision of a stream, for ORIEL_START_POINT: oriel tail --topic %s --partition N --follow=false --raw | tail -n 1\n",
			c.Decisions)
	}
	_, err = out.Write(offsets.Append(nil, c.Input))
	return err
}
