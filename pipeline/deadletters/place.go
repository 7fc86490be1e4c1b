package deadletters

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
)

// progress is how far the letters of a stream are written.
type progress struct {
	row   int64 // offset in the verdict topic of the next row to read
	parts parts // offset in each input partition up to which dead letters are written
	known bool  // every earlier row was read; false if the group has no offset
	found cause // why rows at this position may be missing; zero: unknown
}

// note is the metadata beside the committed offsets. It has the id of the verdict topic, so that a recreated topic is
// noticed. It has the sum of the input offsets up to which letters are written; these may be in the middle of a row. If
// rows are missing and no later row has named their partitions yet, it also has the cause. The group commits the note
// for the verdict topic and for the input, because brokers forget the offsets of a deleted topic.
func note(verdicts [16]byte, sum int64, pending cause) string {
	text := fmt.Sprintf("%x %d", verdicts, sum)
	if pending != (cause{}) {
		text += " " + pending.reason
	}
	return text
}

// noted is a parsed note.
type noted struct {
	verdicts [16]byte
	sum      int64
	pending  cause
}

func parseNote(text string) (n noted, ok bool) {
	fields := strings.Split(text, " ")
	if len(fields) < 2 || len(fields) > 3 {
		return n, false
	}
	raw, err := hex.DecodeString(fields[0])
	if err != nil || len(raw) != len(n.verdicts) {
		return n, false
	}
	n.verdicts = [16]byte(raw)
	if n.sum, err = strconv.ParseInt(fields[1], 10, 64); err != nil || n.sum < 0 {
		return n, false
	}
	if len(fields) == 3 {
		n.pending = causeOf(fields[2])
		return n, n.pending != cause{}
	}
	return n, true
}

// place reads the group's committed position. Without one, letters continue after each partition's last letter in the
// dead-letter topic.
func (t *task) place(ctx context.Context) (progress, error) {
	c := t.service.deployment.Config
	at := progress{known: true}
	input, err := t.committed(ctx, c.Input, t.inputs)
	if err != nil {
		return at, err
	}
	rows, err := t.committed(ctx, c.Verdicts, []int32{t.partition})
	if err != nil {
		return at, err
	}
	latest := input // without an offset for the rows, earlier rows are read again, and known letters left out
	if len(rows.parts) > 0 {
		latest, at.row = rows, rows.parts[t.partition]
	}
	switch {
	case len(latest.parts) == 0:
		return t.lastLetters(ctx)
	case !c.WholeTopic():
		at.parts = parts{t.partition: latest.sum}
	case input.parts.sum() != latest.sum: // some offsets of the input were deleted from the group
		return t.lastLetters(ctx)
	default:
		at.parts = input.parts
	}
	if at.found = latest.pending; latest.verdicts != t.verdicts.ID {
		at.row, at.found = 0, topicMadeAgain
	}
	return at, nil
}

// committed holds the group's offsets for the partitions of a topic, without partitions that have none, and the notes
// with them.
type committed struct {
	noted
	parts parts
}

func (t *task) committed(ctx context.Context, topic string, partitions []int32) (committed, error) {
	d := t.service.deployment
	groupID := d.Config.Group
	at := committed{parts: parts{}}
	offsets, err := group.CommittedOffsets(ctx, d.Client, groupID, topic, partitions)
	if err != nil {
		return at, err
	}
	for _, o := range offsets {
		if o.Offset < 0 {
			continue
		}
		var ok bool
		if at.noted, ok = parseNote(o.Note); !ok {
			return at, t.stop(
				fmt.Sprintf("offset %d of group %q for topic %q was not set by `oriel letters`", o.Offset, groupID, topic),
				fmt.Sprintf("Letters would be missing or written twice. If the group is another consumer's, name one of its own in "+
					"ORIEL_LETTERS_GROUP. Else stop all members and delete the offset: kafka-consumer-groups.sh --group %s --topic %s:%d "+
					"--delete-offsets. Started again, letters go on behind the last one that was written", groupID, topic, o.Partition))
		}
		at.parts[o.Partition] = o.Offset
	}
	return at, nil
}

// lastLetters returns, for each partition of the input, the offset after its last letter in the dead-letter topic. It
// is for a group without an offset: at the first start, or if no process ran for so long that brokers deleted it.
func (t *task) lastLetters(ctx context.Context) (progress, error) {
	bounds, err := topics.BoundsOf(ctx, t.service.deployment.Client, t.deadLetter.Name, t.partition)
	if err != nil {
		return progress{}, err
	}
	var at progress
	for from := range fetch.Backwards(bounds.Start, bounds.High) {
		if at.parts, err = t.lastLettersFrom(ctx, from, bounds.High); err != nil || len(at.parts) == len(t.inputs) {
			break
		}
	}
	return at, err
}

func (t *task) lastLettersFrom(ctx context.Context, from, end int64) (parts, error) {
	d := t.service.deployment
	written := parts{}
	for r, err := range fetch.Records(ctx, d.Client, t.deadLetter, t.partition, from, end, false) {
		if err != nil {
			return nil, fmt.Errorf("letters: the group has no offset: %w", err)
		}
		of, _, until, ok := letterOf(d.Config.Input, r.Headers)
		if ok && until > 0 && slices.Contains(t.inputs, of) {
			written[of] = max(written[of], until)
		}
	}
	return written, nil
}

// letterOf parses the headers of a letter of this input: its partition and the offsets [from, until) that it stands
// for. A record may have headers with these names itself; Oriel's headers come after them, so the last ones count.
func letterOf(input string, headers records.Headers) (partition int32, from, until int64, ok bool) {
	last := map[string]string{}
	for name, value := range headers.All() {
		last[string(name)] = string(value)
	}
	number := func(header string) (n int64) {
		n, err := strconv.ParseInt(last[header], 10, 64)
		ok = ok && err == nil
		return n
	}
	ok = last[headerTopic] == input
	p := number(headerPartition)
	from = number(headerOffset)
	until = from + 1
	if causeOf(last[headerReason]) != (cause{}) {
		until = number(headerUntil)
	}
	return int32(p), from, until, ok && 0 <= p && p <= math.MaxInt32
}
