package histories

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"oriel/pipeline/pipetest/simtest"
	"oriel/schemas/decision"
	"oriel/state/frame"
)

// trace returns a history as exact text: all requests and their times, all messages of processes, and all records of
// every topic.
func (o *outcome) trace() (lines []string) {
	lines = append(o.public(), "")
	for _, at := range o.places() {
		for _, e := range o.logs[at] {
			r := e.record
			sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %v", r.Key, r.Value, r.Headers.List()))
			lines = append(lines, fmt.Sprintf("%s/%d %d: %x", at.topic, at.partition, r.Offset, sum[:8]))
		}
	}
	for _, v := range o.faults {
		lines = append(lines, v.judge+": "+v.text)
	}
	return lines
}

func (o *outcome) places() []place {
	return slices.SortedFunc(maps.Keys(o.logs), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.topic, b.topic), cmp.Compare(a.partition, b.partition))
	})
}

// public returns everything that an adversary may see: the service's requests with their sizes and times, its messages,
// and for each topic the positions and lengths of records and markers. Dead letters are not public.
func (o *outcome) public() (lines []string) {
	for _, r := range o.requests {
		if r.Member != "letters" {
			lines = append(lines, r.String())
		}
	}
	said := slices.Clone(o.said)
	slices.SortStableFunc(said, func(a, b string) int {
		timeA, _, _ := strings.Cut(a, " ")
		timeB, _, _ := strings.Cut(b, " ")
		return cmp.Or(cmp.Compare(timeA, timeB), cmp.Compare(a, b))
	})
	lines = append(lines, said...)
	for _, at := range o.places() {
		if at.topic == "late.dead-letter" {
			continue
		}
		for _, e := range o.logs[at] {
			r := e.record
			parts := fmt.Sprintf("%d ms, key of %d, value of %d", r.Timestamp, len(r.Key), len(r.Value))
			switch at.topic {
			case "trips": // the lengths of key and value depend on contents
				parts = fmt.Sprintf("length %d", r.Length)
			case "late.order": // public contents
				parts = fmt.Sprintf("%d ms, %x", r.Timestamp, r.Value)
			}
			lines = append(lines, fmt.Sprintf("%s/%d %d: epoch %d, %s, committed: %t", at.topic, at.partition, r.Offset,
				r.LeaderEpoch, parts, e.committed))
		}
	}
	return lines
}

// seen returns what must be equal for neighbours: everything public by count, and by the clock what readers of
// decisions see.
func (o *outcome) seen() []string {
	if o.script.clock != nil {
		return o.read
	}
	return o.public()
}

// attempts bounds how often two differing histories are played again. About one history in two hundred does not follow
// from its seed alone, for two reasons. If members join together after the leader of their group has left, kfake picks
// the new leader at random without a seed, which matters if a fault delays the sync of one of them. If goroutines of a
// process wait for the same metadata, Go's scheduler decides which one continues first.
const attempts = 32

// beside compares the public parts of a history and its neighbour. again repeats both.
func (o *outcome) beside(other *outcome, again func() (*outcome, *outcome)) {
	text := simtest.Difference(o.seen(), other.seen())
	ours, theirs := [][]string{o.seen()}, [][]string{other.seen()}
	alike := func(our []string) bool {
		return slices.ContainsFunc(theirs, func(their []string) bool { return slices.Equal(our, their) })
	}
	for n := 0; n < attempts && text != ""; n++ {
		our, their := again()
		ours, theirs = append(ours, our.seen()), append(theirs, their.seen())
		if slices.ContainsFunc(ours, alike) {
			text = ""
		}
	}
	if text != "" {
		o.wrong("neighbours", "what can be seen differs: %s", text)
	}
	o.renewed(other)
}

// renewed checks that the noise changes from the step of the exchanged record on. Otherwise the difference of two
// neighbours' sums would be the difference of their events.
func (o *outcome) renewed(other *outcome) {
	for partition := range o.script.streams() {
		ours, theirs := o.committedSums(partition), other.committedSums(partition)
		steps := slices.Sorted(maps.Keys(ours))
		var apart []float64
		for _, step := range steps {
			if their, is := theirs[step]; is && their != ours[step] || len(apart) > 0 {
				apart = append(apart, their-ours[step])
			}
		}
		if len(apart) > 3 && len(slices.Compact(apart)) == 1 {
			o.wrong("renewed", "partition %d: two histories have the same noise over %d steps", partition, len(steps))
		}
	}
}

// committedSums returns the published sum of each step.
func (o *outcome) committedSums(partition int32) map[uint64]float64 {
	sums := map[uint64]float64{}
	for _, e := range o.logs[place{"late.decisions", partition}] {
		if d, err := decision.Parse(e.record.Value); err == nil && e.committed && d.Step > 0 {
			sums[d.Step] = unpublished(d.Point[3:])
		}
	}
	return sums
}

// order checks the order of requests in a transaction: decisions, then statuses, then the state, then the group's
// offsets. No process may commit a state without the others.
func (o *outcome) order() {
	type owner struct {
		member string
		stream int32
	}
	const state, offsets = 4, 5
	rank := map[string]int{"late.decisions": 1, "late.plays": 2, "late.verdicts": 3, "late.changelog": state}
	sent := map[owner]int{}
	for _, r := range o.requests {
		at := owner{r.Member, r.Partition}
		switch {
		case r.Member == "letters" || r.Topic == "late.order":
		case r.API == "Produce" && r.Topic != "late.changelog" && rank[r.Topic] < sent[at]:
			o.wrong("order", "partition %d: something is sent to %s after the state", r.Partition, r.Topic)
		case r.API == "Produce":
			sent[at] = max(sent[at], rank[r.Topic])
		case r.API == "AddPartitionsToTxn":
			sent[at] = 0
		case r.API == "TxnOffsetCommit": // names a partition of the input
			sent[owner{r.Member, o.script.streamOf(r.Partition)}] = offsets
		case r.API == "EndTxn" && sent[at] == state:
			o.wrong("order", "partition %d: a state is committed without the offsets of the group", r.Partition)
		}
	}
}

// nonces checks that no two sealed values have the same nonce.
func (o *outcome) nonces(partition int32) {
	const nonce, tag, checksum = 24, 16, 4
	seen := map[string][]byte{}
	look := func(value []byte, width int) {
		if at := len(value) - checksum - tag - width - nonce; at > 0 {
			n := string(value[at : at+nonce])
			if other, is := seen[n]; is && !bytes.Equal(other, value) {
				o.wrong("nonces", "partition %d: two sealed values have one nonce", partition)
			}
			seen[n] = value
		}
	}
	for _, r := range o.logs[place{"late.verdicts", partition}] {
		look(r.record.Value, statusesIn(r.record.Value))
	}
	for _, r := range o.logs[place{"late.changelog", partition}] {
		if width := stateIn(r.record.Value); width > 0 {
			look(r.record.Value, width)
		}
	}
}

// statusesIn returns the number of statuses in a sealed row, and stateIn the length of the machine's state in a sealed
// state; both return 0 for another record. Neither number is encrypted.
func statusesIn(row []byte) int {
	if len(row) < 58 || frame.Kind(row[1]) != frame.KindStatuses {
		return 0
	}
	return int(binary.LittleEndian.Uint64(row[50:]) - binary.LittleEndian.Uint64(row[34:]))
}

func stateIn(sealed []byte) int {
	if len(sealed) < 70 || frame.Kind(sealed[1]) != frame.KindState {
		return 0
	}
	at := 68
	if sealed[67] > 0 { // the sealed state of a whole topic
		at += 40 + 28*int(binary.LittleEndian.Uint32(sealed[104:]))
	}
	return int(binary.LittleEndian.Uint32(sealed[at:]))
}
