package pipeline

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"oriel/pipeline/kafka"
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

func (d Deployment) open(view *changelog, p int32) (openedState, error) {
	manifest, err := openManifest(view.values[string(state.ManifestKey())], p, manifestText(d.Config, d.Model), d.Master)
	if err != nil {
		return openedState{}, err
	}
	name := streamName(p)
	record := view.values[string(manifest.NameKey.Key(state.KindIncarnation, name))]
	sealed, err := view.sealed(manifest.NameKey.Key(state.KindState, name))
	if err != nil {
		return openedState{}, unsealing(p, err)
	}
	if record == nil || sealed == nil {
		return openedState{}, &StopError{Partition: p, Reason: "there is no state of this partition", Remedy: "Run `oriel run` first, or name the partition that the checkpoint was saved from"}
	}
	return openSealed(d.Model, d.Master, p, record, sealed)
}
