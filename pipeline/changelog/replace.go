package changelog

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/state"
)

// replaceable refuses a manifest whose configuration differs from this process's in a setting that decides which topics
// there are, or which schemas `oriel topics` has frozen. Other settings may change until the stream is opened.
func (d Deployment) replaceable(p int32, m state.Manifest) error {
	if d.changesForLife(m) {
		return d.sameConfig(p, m)
	}
	return nil
}

// changesForLife reports whether a setting differs that no `oriel topics` changes.
func (d Deployment) changesForLife(m state.Manifest) bool {
	wanted := wantedManifest(d.Config, d.Model)
	fixed := []string{"NAME", "STREAM"}
	if state.ConfigValue(m.Config, "SCHEMA_SUBJECT")+state.ConfigValue(wanted.Config, "SCHEMA_SUBJECT") != "" {
		fixed = append(fixed, "FORMAT", "FRAMING", "SCHEMA", "SCHEMA_MESSAGE", "SCHEMA_SUBJECT")
	}
	return slices.ContainsFunc(fixed, func(name string) bool {
		return state.ConfigValue(m.Config, name) != state.ConfigValue(wanted.Config, name)
	})
}

// refuseOpened refuses a manifest as sameConfig does, because the stream of its partition is or may be open. The remedy
// says whether the privacy loss of the deployment counts: it does not if no decision was ever sent.
func (d Deployment) refuseOpened(ctx context.Context, p int32, m state.Manifest) error {
	err := d.sameConfig(p, m)
	var refusal *notice.StopError
	if !errors.As(err, &refusal) {
		return err
	}
	refusal.Remedy = otherName + lossAdds
	if !d.mayHaveSent(ctx) {
		refusal.Remedy = otherName + ". The old one has sent no decision so far: if it is stopped now, its privacy loss adds " +
			"nothing, and its topics may be deleted"
	}
	return refusal
}

// mayHaveSent reports whether a decision was ever sent, committed or not, or whether the brokers do not say so.
func (d Deployment) mayHaveSent(ctx context.Context) bool {
	for _, topic := range d.Topics.Outputs() {
		for p := range int32(topic.Partitions) {
			b, err := topics.BoundsOf(ctx, d.Client, topic.Name, p)
			sent := err != nil
			if !sent {
				sent, err = deployment.EverWritten(ctx, d.Client, topic, p, b)
			}
			if sent || err != nil {
				return true
			}
		}
	}
	return false
}

// checkUnopened refuses a manifest (refuseOpened) if its stream is open. It fences nobody, because a refusal must not
// disturb an owner at work. fenceUnopened checks again.
func (d Deployment) checkUnopened(ctx context.Context, p int32, m state.Manifest) error {
	opening, err := FindRecord(ctx, d.Client, d.Topics.Changelog, p, keysOf(d.Config, m, p).Incarnation)
	if err == nil && opening != nil {
		err = d.refuseOpened(ctx, p, m)
	}
	return err
}

// fenceUnopened ends the ownership of all earlier producers of a partition, and returns a producer that may replace the
// partition's manifest m. It refuses m (refuseOpened) if the stream was ever opened.
//
// A stream that was never opened has no secret, so that no noise exists under the old configuration, and nothing that
// depends on an event was sent. A process with the old configuration cannot open the stream afterwards: an opening by
// an earlier producer fails, because this producer has fenced it, and a later take-over reads the new manifest. If such
// a take-over comes between the check and the write, it fences this producer, and the write fails.
func (d Deployment) fenceUnopened(ctx context.Context, p int32, m state.Manifest) (*produce.Producer, error) {
	producer, bounds, err := d.fence(ctx, p)
	if err != nil {
		return nil, err
	}
	opened, err := d.everOpened(ctx, p, m, bounds)
	if err == nil && opened {
		err = d.refuseOpened(ctx, p, m)
	}
	return producer, err
}

// everOpened reports whether an opening of a partition's stream was ever sent, committed or not, or whether anything
// shows that it was. bounds are those of the changelog after all transactions have ended.
func (d Deployment) everOpened(ctx context.Context, p int32, m state.Manifest, bounds topics.Bounds) (bool, error) {
	if bounds.Start > 0 {
		return true, nil
	}
	schemas := keysOf(d.Config, m, p).Schemas
	for r, err := range fetch.Records(ctx, d.Client, d.Topics.Changelog, p, bounds.Start, bounds.High, true) {
		if err != nil {
			return false, err
		}
		if !bytes.Equal(r.Key, state.ManifestKey()) && !bytes.Equal(r.Key, schemas) {
			return true, nil
		}
	}
	for _, topic := range append(d.Topics.Outputs(), d.Topics.Verdicts) {
		b, err := topics.StableEnd(ctx, d.Client, topic.Name, p)
		if err != nil {
			return false, err
		}
		if written, err := deployment.EverWritten(ctx, d.Client, topic, p, b); written || err != nil {
			return written, err
		}
	}
	taken, err := group.CommittedOffsets(ctx, d.Client, d.Config.Group, d.Config.Input, d.Topics.Read(d.Config, p))
	return slices.ContainsFunc(taken, func(o group.Offset) bool { return o.Offset != -1 }), err
}

// fence ends the ownership of all earlier producers of a partition. It returns the new producer, and the bounds of the
// changelog after the last transaction has ended.
func (d Deployment) fence(ctx context.Context, p int32) (*produce.Producer, topics.Bounds, error) {
	producer, err := d.settle(ctx, p)
	if err != nil {
		return nil, topics.Bounds{}, err
	}
	bounds, err := topics.StableEnd(ctx, d.Client, d.Topics.Changelog.Name, p)
	return producer, bounds, err
}

// settle ends the ownership of all earlier producers of a partition, and their transactions. It returns the new
// producer.
func (d Deployment) settle(ctx context.Context, p int32) (*produce.Producer, error) {
	id := d.Config.TransactionalID(d.Topics.Input.ID, p)
	producer, err := produce.New(ctx, d.Client, id, deployment.TransactionTimeout)
	if err == nil {
		err = producer.Settle(ctx, d.Topics.TransactionParts(p), d.Config.Group)
	}
	return producer, err
}
