package pipeline

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"oriel/mechanisms/noise"
	"oriel/pipeline/kafka"
	"oriel/schemas"
	"oriel/state"
)

// Deployment is what reading a deployment's sealed records takes.
type Deployment struct {
	Client *kafka.Client
	Config Config
	Topics Topics
	Model  Model
	Master *state.MasterKey
}

// checkpointMagic opens a checkpoint file; the last byte is its format. After it come the changelog records of one
// partition that open its stream, each key and value behind its u32 length, little-endian.
const checkpointMagic = "oriel checkpoint\x01"

// ErrCheckpoint means that a file is not a checkpoint of this format.
var ErrCheckpoint = errors.New("pipeline: not a checkpoint file")

// Checkpoint copies the committed records of a partition, still sealed and wrapped. It changes nothing.
func (d Deployment) Checkpoint(ctx context.Context, p int32) ([]byte, error) {
	bounds, err := d.Client.ReadableEnd(ctx, d.Topics.Changelog.Name, p)
	if err != nil {
		return nil, err
	}
	view, err := readChangelog(ctx, d.Client, d.Topics.Changelog, p, bounds, nil)
	if err != nil {
		return nil, err
	}
	if _, err := d.open(view, p); err != nil {
		return nil, err
	}
	records := view.records(d.Topics.Changelog.ID)[1:] // the first is the local store's own
	slices.SortFunc(records, func(a, b state.Record) int { return bytes.Compare(a.Key, b.Key) })
	return appendCheckpoint(nil, records), nil
}

func appendCheckpoint(dst []byte, records []state.Record) []byte {
	dst = append(dst, checkpointMagic...)
	for _, r := range records {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(r.Key)))
		dst = append(dst, r.Key...)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(r.Value)))
		dst = append(dst, r.Value...)
	}
	return dst
}

func parseCheckpoint(b []byte) (*changelog, error) {
	rest, ok := bytes.CutPrefix(b, []byte(checkpointMagic))
	view := &changelog{values: map[string][]byte{}}
	field := func() (f []byte) {
		if len(rest) < 4 || uint64(binary.LittleEndian.Uint32(rest)) > uint64(len(rest)-4) {
			ok = false
			return nil
		}
		n := 4 + int(binary.LittleEndian.Uint32(rest))
		f, rest = rest[4:n], rest[n:]
		return f
	}
	for ok && len(rest) > 0 {
		key := field()
		view.values[string(key)] = field()
	}
	if !ok {
		return nil, ErrCheckpoint
	}
	return view, nil
}

func (d Deployment) open(view *changelog, p int32) (opened, error) {
	manifest, err := openManifest(view.values[string(state.ManifestKey())], p, manifestText(d.Config, d.Model), d.Master)
	if err != nil {
		return opened{}, err
	}
	name := streamName(p)
	record := view.values[string(manifest.NameKey.Key(state.KindIncarnation, name))]
	sealed, err := view.sealed(manifest.NameKey.Key(state.KindState, name))
	if err != nil {
		return opened{}, unsealing(p, err)
	}
	if record == nil || sealed == nil {
		return opened{}, &StopError{Partition: p, Reason: "there is no state of this partition", Remedy: "Run `oriel run` first, or name the partition that the checkpoint was saved from"}
	}
	return openSealed(d.Model, d.Master, p, record, sealed)
}

// Check recomputes the decisions behind a checkpoint from the input topic and compares them with the published ones, byte
// for byte. It returns how many it compared; comparing none is an error. progress is told after every batch.
func (d Deployment) Check(ctx context.Context, p int32, checkpoint []byte, progress func(compared int)) (int, error) {
	view, err := parseCheckpoint(checkpoint)
	if err != nil {
		return 0, err
	}
	o, err := d.open(view, p)
	if err != nil {
		return 0, err
	}
	if o.incarnation.Topic != d.Topics.Input.ID || o.incarnation.Partition != p {
		return 0, &StopError{Partition: p, Reason: "the checkpoint is of another input", Remedy: "Name the deployment and partition that it was saved from"}
	}
	compared := 0
	recomputed := recomputation{deployment: d, partition: p, opened: o}
	defer recomputed.release()
	err = d.published(ctx, p, o, func(offset int64, line []byte, index uint64) error {
		again, err := recomputed.next(ctx, index)
		if err != nil {
			return err
		}
		if !bytes.Equal(again, line) {
			return fmt.Errorf("pipeline: partition %d: the decision at offset %d (index %d) differs from the recomputed one", p, offset, index)
		}
		compared++
		progress(compared)
		return nil
	})
	if err == nil && compared == 0 {
		err = fmt.Errorf("pipeline: partition %d: no decision behind the checkpoint was published; nothing is shown", p)
	}
	return compared, err
}

// published calls f for each committed decision of the incarnation behind the checkpoint, in order.
func (d Deployment) published(ctx context.Context, p int32, o opened, f func(offset int64, line []byte, index uint64) error) error {
	bounds, err := d.Client.ReadableEnd(ctx, d.Config.Decisions, p)
	if err != nil {
		return err
	}
	reader := d.Client.NewReader(d.Config.Decisions, p, bounds.Start, kafka.ReaderOptions{MaxWait: 100 * time.Millisecond})
	for next := bounds.Start; next < bounds.Stable; {
		batch, err := reader.Fetch(ctx)
		if err != nil {
			return err
		}
		for _, r := range batch.Records {
			decision, err := decisionAt(p, r)
			if err == nil && decision.Incarnation == o.incarnation.ID && decision.Step > o.position.Step {
				err = f(r.Offset, r.Value, decision.Index)
			}
			if err != nil {
				batch.Release()
				return err
			}
		}
		next = batch.Next
		batch.Release()
	}
	return nil
}

// recomputation steps over the input as far as the next decision needs.
type recomputation struct {
	deployment Deployment
	partition  int32
	opened
	reader  *kafka.Reader
	batch   *kafka.Batch
	at      int
	lines   [][]byte
	started bool
}

// next gives the decision with an index. The topic may have dropped decisions before the first one asked for; from there on they are
// asked for one by one.
func (c *recomputation) next(ctx context.Context, index uint64) ([]byte, error) {
	for {
		for len(c.lines) > 0 {
			line := c.lines[0]
			c.lines = c.lines[1:]
			decision, err := decisionAt(c.partition, kafka.Record{Value: line})
			if err != nil {
				return nil, err
			}
			if decision.Index == index {
				c.started = true
				return line, nil
			}
			if c.started || decision.Index > index {
				return nil, fmt.Errorf("pipeline: partition %d: the decision with index %d was published where %d was due", c.partition, index, decision.Index)
			}
		}
		if err := c.step(ctx); err != nil {
			return nil, err
		}
	}
}

func (c *recomputation) step(ctx context.Context) error {
	input := c.deployment.Config.Input
	if c.reader == nil {
		c.reader = c.deployment.Client.NewReader(input, c.partition, c.position.Next, kafka.ReaderOptions{
			ID: c.position.Topic, LastEpoch: &c.position.LeaderEpoch, MaxWait: 100 * time.Millisecond,
		})
	}
	for c.batch == nil || c.at == len(c.batch.Records) {
		c.release()
		batch, err := c.reader.Fetch(ctx)
		if err != nil {
			return err
		}
		if len(batch.Records) == 0 && batch.Next >= batch.Stable {
			batch.Release()
			return fmt.Errorf("pipeline: partition %d: decisions were published for events that the input does not have", c.partition)
		}
		c.batch, c.at = batch, 0
	}
	if c.stream.Ended() {
		return fmt.Errorf("pipeline: partition %d: decisions were published behind the horizon of %d steps", c.partition, c.stream.horizon)
	}
	r := &c.batch.Records[c.at]
	c.at++
	id := noise.Identity{Topic: c.position.Topic, Partition: c.partition, Offset: r.Offset, LeaderEpoch: r.LeaderEpoch}
	in := Input{Identity: id, User: c.stream.User(r), Value: r.Value, Unreadable: r.Unreadable}
	c.stream.Take(in, func(line []byte) { c.lines = append(c.lines, bytes.Clone(line)) })
	return nil
}

func (c *recomputation) release() {
	if c.batch != nil {
		c.batch.Release()
		c.batch = nil
	}
}

// decisionAt reads a decision record; the error names its place.
func decisionAt(p int32, r kafka.Record) (schemas.Decision, error) {
	d, err := schemas.ParseDecision(r.Value)
	if err != nil {
		return d, fmt.Errorf("pipeline: decision topic, partition %d, offset %d: %w", p, r.Offset, err)
	}
	return d, nil
}
