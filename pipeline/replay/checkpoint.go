package replay

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"oriel/pipeline/changelog"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/state"
)

// checkpointMagic starts a checkpoint file; its last byte is the format version. The changelog records of one partition
// that are needed to open its stream follow. Each key and each value has a u32 length before it, little-endian.
const checkpointMagic = "oriel checkpoint\x01"

// ErrCheckpoint means that a file is not a checkpoint of this format.
var ErrCheckpoint = errors.New("pipeline: not a checkpoint file")

// Checkpoint copies the committed records of a partition, still sealed and wrapped. It writes no records.
func Checkpoint(ctx context.Context, d changelog.Deployment, p int32) ([]byte, error) {
	view, err := d.View(ctx, p)
	if err != nil {
		return nil, err
	}
	if _, _, err := open(d, view, p); err != nil {
		return nil, err
	}
	records := view.Records()[1:] // without the first record, which belongs to the local store
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

func parseCheckpoint(b []byte) (*changelog.View, error) {
	rest, ok := bytes.CutPrefix(b, []byte(checkpointMagic))
	view := changelog.NewView(topics.Topic{})
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
		view.Set(key, field())
	}
	if !ok {
		return nil, ErrCheckpoint
	}
	return view, nil
}

// open opens the stream of a checkpoint. It takes the keys from the checkpoint's manifest.
func open(
	d changelog.Deployment, view *changelog.View, p int32,
) (saved changelog.Saved, keys changelog.Keys, err error) {
	if keys, err = view.Keys(p, d.Config, d.Model, d.Master); err != nil {
		return saved, keys, err
	}
	record := view.Value(keys.Incarnation)
	sealed, err := view.Sealed(keys.State)
	if err != nil {
		return saved, keys, changelog.CannotOpen(p, err)
	}
	if record == nil || sealed == nil {
		return saved, keys, &notice.StopError{Partition: p, Reason: "there is no state of this partition", Remedy: "Run `oriel run` first, or name the partition that the checkpoint was saved from"}
	}
	model, err := view.ModelOf(d.Model, keys, d.Config, p)
	if err != nil {
		return saved, keys, err
	}
	saved, err = view.OpenSaved(model, d.Master, p, record, sealed)
	return saved, keys, err
}
