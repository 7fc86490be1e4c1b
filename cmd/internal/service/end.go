package service

import (
	"context"
	"fmt"
	"io"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/settings"
	"oriel/pipeline/deployment"
)

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
	client, err := h.Dial(s, nil, clientPatience, retrying(h.logger("warn", s.LogFormat), nil))
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
	fmt.Fprintf(h.Stderr, "%s has ended for good. A new deployment with these lines in the file of ORIEL_START uses none of its records.\n"+
		"Last decision of a stream, for ORIEL_START_POINT: oriel tail --topic %s --partition N --follow=false --raw | tail -n 1\n",
		c.Name, c.Decisions)
	_, err = out.Write(offsets.Append(nil, c.Input))
	return err
}
