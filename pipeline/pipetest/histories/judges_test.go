package histories

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/noise"
	"oriel/pipeline/pipetest"
	"oriel/schemas/decision"
	"oriel/schemas/event"
	"oriel/schemas/text"
	"oriel/state"
)

// judge checks a history without its neighbour.
func (o *outcome) judge(t *testing.T) {
	t.Helper()
	o.order()
	if o.script.clock != nil && o.start == nil {
		o.wrong("stuck", "no stream was opened")
		return
	}
	for partition := range o.script.streams() {
		o.oneValue(t, partition)
		o.replay(t, partition)
		o.nonces(partition)
	}
}

// decisions reads the decisions of a partition, by topic and in order. With uncommitted, it includes aborted ones.
func (o *outcome) decisions(t *testing.T, partition int32, uncommitted bool) (all [2][]decision.Decision) {
	t.Helper()
	for output, topic := range []string{"late.decisions", "late.plays"} {
		for _, e := range o.logs[place{topic, partition}] {
			d, err := decision.Parse(e.record.Value)
			if err != nil {
				t.Fatal(err)
			}
			if e.committed || uncommitted {
				all[output] = append(all[output], d)
			}
		}
	}
	return all
}

// oneValue checks that a decision has only ever had one value, committed or aborted.
func (o *outcome) oneValue(t *testing.T, partition int32) {
	t.Helper()
	values := map[uint64]decision.Decision{}
	for _, list := range o.decisions(t, partition, true) {
		for _, d := range list {
			other, seen := values[d.Index]
			if seen && (!slices.Equal(other.Point, d.Point) || other.Incarnation != d.Incarnation) {
				o.wrong("one value", "partition %d: decision %d can be read as %v and %v", partition, d.Index,
					other.Point, d.Point)
			}
			values[d.Index] = d
		}
	}
}

// replay compares the committed records with a walk over the input without faults. Each decision must occur once and in
// order, each status once, and the group's offset must be at the end.
func (o *outcome) replay(t *testing.T, partition int32) {
	t.Helper()
	got := o.decisions(t, partition, false)
	versions := map[uint64]float64{} // published values by step
	for _, list := range got {
		for _, d := range list {
			if d.Step > 0 {
				versions[d.Step] = d.Point[2]
			}
		}
	}
	merged := o.merged(partition)
	o.code(t, merged)
	var input []entry
	for _, s := range merged {
		if s.entry != nil {
			input = append(input, *s.entry)
		}
	}
	statuses := o.statuses(partition, merged)
	o.letters(partition, merged, statuses)
	differs := "no stream was opened"
	for _, key := range o.releases.keys {
		if o.script.clock != nil {
			differs = o.walkByClock(t, key, merged, versions, got[0])
		} else {
			differs = o.walk(t, key, input, versions, got)
		}
		if differs == "" {
			return
		}
	}
	o.wrong("exactly once", "partition %d: %s", partition, differs)
}

// walk describes how the committed decisions differ from the decisions of a walk without faults with this first key. It
// returns "" if they are equal.
func (o *outcome) walk(
	t *testing.T, key [32]byte, input []entry, versions map[uint64]float64, got [2][]decision.Decision,
) string {
	t.Helper()
	stream := straight(t, o.script.mechanism(), key)
	decoder, event := newDecoder(t), event.Event{}
	blind := pipetest.Blind{Second: o.script.second, Owed: o.script.owed}
	at := [2]int{}
	next := func(output int, index, step uint64) (decision.Decision, string) {
		if at[output] >= len(got[output]) {
			return decision.Decision{}, fmt.Sprintf("decision %d is missing at the end", index)
		}
		d := got[output][at[output]]
		at[output]++
		if d.Index != index || d.Step != step {
			return d, fmt.Sprintf("decision %d stands where %d belongs", d.Index, index)
		}
		return d, ""
	}
	first, count := blind.Due(0)
	for i := range count {
		output := 0
		if o.script.second > 0 && i == count-1 {
			output = 1
		}
		if _, text := next(output, first+uint64(i), 0); text != "" {
			return text
		}
	}
	for i, e := range input {
		step := uint64(i + 1)
		ev, _ := decoded(decoder, &event, e.record)
		var v []float64
		if ev != nil {
			v = []float64{float64(ev.Label * min(1, max(-1, ev.Vector.Values[0])))}
			if versions[step] == 2 {
				v[0] = -v[0]
			}
		}
		stream.Add(noise.Identity{
			Topic: o.topic, Partition: e.partition, Offset: e.record.Offset, LeaderEpoch: e.record.LeaderEpoch,
		}, v)
		stream.Close()
		first, count := blind.Due(step)
		for output := range count {
			index := first + uint64(output)
			d, text := next(output, index, step)
			if text != "" {
				return text
			}
			want := append([]float64{float64(index), float64(e.record.Offset), versions[step]},
				published(stream.Sum(0)[0])...)
			if !slices.Equal(d.Point, want) {
				return fmt.Sprintf("decision %d is not that of a straight replay", index)
			}
		}
	}
	for output := range got {
		if at[output] < len(got[output]) {
			return "there are decisions beyond the input"
		}
	}
	return ""
}

func straight(t *testing.T, mechanism string, key [32]byte) *mechanisms.Stream {
	t.Helper()
	params, err := calibrated(mechanism)
	if err != nil {
		t.Fatal(err)
	}
	calibration, err := mechanisms.ParseCalibration(params)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := mechanisms.Open(mechanismOf(mechanism), calibration, key)
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

func newDecoder(t *testing.T) *event.JSONDecoder {
	t.Helper()
	config := pipetest.NewSetup().Model.Events
	config.MaxBytes = maxValue
	d, err := event.NewJSONDecoder(config)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// code sets the code of each record: the reason why it is a null event, from a simple decoder and by the clock from a
// count of the records of each user in a period.
func (o *outcome) code(t *testing.T, merged []spot) {
	t.Helper()
	decoder, event, limit := newDecoder(t), event.Event{}, o.limit()
	for i := range merged {
		if s := &merged[i]; s.entry != nil {
			if s.code = limit(*s); s.code == text.OK && !o.early(*s) {
				_, s.code = decoded(decoder, &event, s.entry.record)
			}
		}
	}
}

// statuses checks the committed status rows: they must be contiguous, cover the input in the order of the order log,
// and agree with a simple decoder about each record. By the clock, offsets without a record may have any place. It
// returns the statuses by offset.
func (o *outcome) statuses(partition int32, merged []spot) map[at]byte {
	var joined []byte
	var lie []at
	for _, r := range o.rows[partition] {
		switch {
		case !r.committed:
			continue
		case r.From.Next != int64(len(joined)):
			o.wrong("rows", "partition %d: statuses of the offsets from %d on follow those up to %d", partition, r.From.Next, len(joined))
			return nil
		case !o.script.whole:
			r.Stretches = []state.Stretch{{Partition: partition, From: r.From.Next, To: r.To.Next}}
		}
		joined = append(joined, r.Statuses...)
		for _, s := range r.Stretches {
			for offset := s.From; offset < s.To; offset++ {
				lie = append(lie, at{s.Partition, offset})
			}
		}
	}
	if o.script.clock != nil {
		joined, lie = o.withRecords(joined, lie)
	}
	statuses, want := map[at]byte{}, []byte(nil)
	for i, s := range merged {
		status := byte(0)
		if s.entry != nil {
			status = s.code.Status()
		}
		if want = append(want, status); i < len(joined) {
			statuses[s.at] = joined[i]
			if lie[i] != s.at {
				o.wrong("rows", "partition %d: a status of %v stands where that of %v belongs", partition, lie[i], s.at)
				return nil
			}
		}
	}
	if !bytes.Equal(joined, want) {
		o.wrong("rows", "partition %d: statuses %v, want %v", partition, joined, want)
	}
	return statuses
}

// letters checks that exactly the records that were taken as null events have a dead letter. The dead letters of an
// input partition must be in the order of its records.
func (o *outcome) letters(partition int32, merged []spot, statuses map[at]byte) {
	if o.counts["retention"] > 0 {
		return
	}
	missing := map[at]bool{}
	for _, s := range merged {
		if code, known := text.CodeOfStatus(statuses[s.at]); s.entry != nil && (!known || code != text.OK) {
			missing[s.at] = true
		}
	}
	unknown, last := 0, map[int32]int64{}
	for _, e := range o.logs[place{"late.dead-letter", partition}] {
		if !e.committed {
			continue
		}
		if e.record.Unreadable { // the test's reader cannot parse it: it has too many headers, like its record
			unknown++
			continue
		}
		var of at
		for name, value := range e.record.Headers.All() {
			n, _ := strconv.ParseInt(string(value), 10, 64)
			switch string(name) {
			case "oriel-offset":
				of.offset = n
			case "oriel-partition":
				of.partition = int32(n)
			}
		}
		before, is := last[of.partition]
		if !missing[of] || is && of.offset <= before {
			o.wrong("letters", "partition %d: a letter of %v that nothing asks for, behind one of offset %d", partition, of, before)
		}
		delete(missing, of)
		last[of.partition] = of.offset
	}
	if len(missing) != unknown {
		o.wrong("letters", "partition %d: no letters of %v; %d cannot be read", partition, missing, unknown)
	}
}
