package letters

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"oriel/pipeline/kafka"
)

// place is where a partition's letters stand.
type place struct {
	row int64 // offset of the verdict topic from which rows are read
	// offset of the input up to which all verdicts were seen: the next row must not start later. −1: not known
	covered int64
	written int64 // offset of the input up to which letters are written
}

// note is what stands beside the committed offset: the verdict topic's id, so that a topic made again is noticed, and
// how far into the input letters are written, which may be in the middle of a row.
func note(verdicts [16]byte, covered int64) string { return fmt.Sprintf("%x %d", verdicts, covered) }

func parseNote(text string) (verdicts [16]byte, covered int64, ok bool) {
	id, number, _ := strings.Cut(text, " ")
	raw, err := hex.DecodeString(id)
	if err != nil || len(raw) != len(verdicts) {
		return verdicts, 0, false
	}
	covered, err = strconv.ParseInt(number, 10, 64)
	return [16]byte(raw), covered, err == nil && covered >= 0
}

// place reads the group's committed place; without one, letters go on behind the last one in the dead-letter topic.
func (t *task) place(ctx context.Context) (place, error) {
	d, p := t.service.deployment, t.partition
	c := d.Config
	committed, err := d.Client.CommittedPlace(ctx, c.Group, c.Verdicts, p)
	if err != nil {
		return place{}, err
	}
	if committed.Offset < 0 {
		written, err := t.lastLetter(ctx)
		return place{row: 0, covered: -1, written: written}, err
	}
	verdicts, covered, ok := parseNote(committed.Note)
	switch {
	case !ok:
		return place{}, t.stop(
			fmt.Sprintf("offset %d of group %q for topic %q was not set by `oriel letters`", committed.Offset, c.Group, c.Verdicts),
			"Letters would be missing or written twice. Stop all members and delete the offset "+
				"(kafka-consumer-groups.sh --delete-offsets): letters then go on behind the last one in the dead-letter topic")
	case verdicts != d.Topics.Verdicts.ID:
		return place{}, t.stop(fmt.Sprintf("topic %q was made again since letters were written", c.Verdicts),
			"Verdicts are lost with it; to go on with those that there are, stop all members and delete the group's offset "+
				"(kafka-consumer-groups.sh --delete-offsets)")
	}
	return place{row: committed.Offset, covered: covered, written: covered}, nil
}

// lastLetter returns the offset of the input after the last letter that the dead-letter topic has of this partition, 0
// if it has none. That is asked when the group has no offset: at the first start, and when a group that was away for
// long was forgotten by the brokers.
func (t *task) lastLetter(ctx context.Context) (int64, error) {
	d, p := t.service.deployment, t.partition
	topic := d.Topics.DeadLetter
	bounds, err := d.Client.Bounds(ctx, topic.Name, p)
	if err != nil {
		return 0, err
	}
	for back := int64(1024); ; back *= 4 {
		from := max(bounds.Start, bounds.High-back)
		written, err := t.lastLetterFrom(ctx, from, bounds.High)
		if err != nil || written > 0 || from == bounds.Start {
			return written, err
		}
	}
}

func (t *task) lastLetterFrom(ctx context.Context, from, end int64) (written int64, err error) {
	d, p := t.service.deployment, t.partition
	topic := d.Topics.DeadLetter
	reader := d.Client.NewReader(topic.Name, p, from, kafka.ReaderOptions{ID: topic.ID, MaxWait: 100 * time.Millisecond})
	for next := from; next < end; {
		batch, err := reader.Fetch(ctx)
		if err != nil {
			return 0, fmt.Errorf("letters: read %s partition %d, because the group has no offset: %w", topic.Name, p, err)
		}
		for _, r := range batch.Records {
			if at, ok := letterOf(d.Config.Input, p, r.Headers); ok {
				written = max(written, at+1)
			}
		}
		next = batch.Next
		batch.Release()
	}
	return written, nil
}

// letterOf returns which offset a letter is of, if it is one of this input and partition. A record may have had headers
// of these names itself; ours come after them.
func letterOf(input string, p int32, headers kafka.Headers) (offset int64, ok bool) {
	last := map[string]string{}
	for name, value := range headers.All() {
		last[string(name)] = string(value)
	}
	offset, err := strconv.ParseInt(last[headerOffset], 10, 64)
	return offset, err == nil && last[headerTopic] == input && last[headerPartition] == strconv.Itoa(int(p))
}
