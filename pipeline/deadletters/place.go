package deadletters

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
)

// progress is where a partition's letters stand.
type progress struct {
	row int64 // offset of the verdict topic from which rows are read
	// offset of the input up to which all verdicts were seen; −1: not known
	covered int64
	written int64 // offset of the input up to which letters are written
	found   cause // why rows may be missing there; zero: nothing is known
}

// note is what stands beside the committed offsets: the verdict topic's id, so that a topic made again is noticed, and
// how far into the input letters are written, which may be in the middle of a row. The group commits it twice: for the
// verdict topic, and for the input, because brokers forget the offsets of a topic that is deleted.
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
func (t *task) place(ctx context.Context) (progress, error) {
	c := t.service.deployment.Config
	at, verdicts, known, err := t.committed(ctx, c.Input)
	if err != nil {
		return at, err
	}
	row, id, there, err := t.committed(ctx, c.Verdicts)
	if err != nil {
		return at, err
	}
	switch {
	case there:
		at, verdicts = row, id
	case known: // its offset was deleted: rows that were read are read again, and cut off
		at.row = 0
	default:
		written, err := t.lastLetter(ctx)
		return progress{row: 0, covered: -1, written: written}, err
	}
	if verdicts != t.verdicts.ID {
		at.row, at.found = 0, topicMadeAgain
	}
	return at, nil
}

// committed reads the place that stands beside the group's offset for a topic, if it has one.
func (t *task) committed(ctx context.Context, topic string) (at progress, verdicts [16]byte, is bool, err error) {
	d, p := t.service.deployment, t.partition
	groupID := d.Config.Group
	committed, err := group.CommittedPlace(ctx, d.Client, groupID, topic, p)
	if err != nil || committed.Offset < 0 {
		return at, verdicts, false, err
	}
	verdicts, covered, ok := parseNote(committed.Note)
	if !ok {
		return at, verdicts, false, t.stop(
			fmt.Sprintf("offset %d of group %q for topic %q was not set by `oriel letters`", committed.Offset, groupID, topic),
			fmt.Sprintf("Letters would be missing or written twice. If the group is another consumer's, name one of its own in "+
				"ORIEL_LETTERS_GROUP. Else stop all members and delete the offset: kafka-consumer-groups.sh --group %s --topic %s:%d "+
				"--delete-offsets. Started again, letters go on behind the last one that was written", groupID, topic, p))
	}
	return progress{row: committed.Offset, covered: covered, written: covered}, verdicts, true, nil
}

// lastLetter returns the offset of the input after the last letter that the dead-letter topic has of this partition, 0
// if it has none. That is asked when the group has no offset: at the first start, and when a group that was away for
// long was forgotten by the brokers.
func (t *task) lastLetter(ctx context.Context) (int64, error) {
	d, p := t.service.deployment, t.partition
	topic := t.deadLetter
	bounds, err := topics.BoundsOf(ctx, d.Client, topic.Name, p)
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
	topic := t.deadLetter
	reader := fetch.NewReader(d.Client, topic.Name, p, from, fetch.Options{ID: topic.ID, MaxWait: 100 * time.Millisecond})
	for next := from; next < end; {
		batch, err := reader.Fetch(ctx)
		if err != nil {
			return 0, fmt.Errorf("letters: read %s partition %d, because the group has no offset: %w", topic.Name, p, err)
		}
		for _, r := range batch.Records {
			if _, until, ok := letterOf(d.Config.Input, p, r.Headers); ok {
				written = max(written, until)
			}
		}
		next = batch.Next
		batch.Release()
	}
	return written, nil
}

// letterOf returns the offsets [from, until) that a letter is of, if it is one of this input and partition. A record
// may have had headers of these names itself; ours come after them.
func letterOf(input string, p int32, headers records.Headers) (from, until int64, ok bool) {
	last := map[string]string{}
	for name, value := range headers.All() {
		last[string(name)] = string(value)
	}
	from, err := strconv.ParseInt(last[headerOffset], 10, 64)
	if err != nil || last[headerTopic] != input || last[headerPartition] != strconv.Itoa(int(p)) {
		return 0, 0, false
	}
	until = from + 1
	if isGap(last[headerReason]) {
		until, err = strconv.ParseInt(last[headerUntil], 10, 64)
	}
	return from, until, err == nil
}
