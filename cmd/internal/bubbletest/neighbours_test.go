package bubbletest

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	kafkago "github.com/segmentio/kafka-go"

	"oriel/cmd/internal/decisiontest"
	"oriel/cmd/internal/servicetest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest/simtest"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

// eventBytes is the default size of every event. Shorter events are extended with white space.
const eventBytes = 60

const validEvent = `{"features":{"carrier":"UA","hour":17},"label":1}`

// malformed has, for each rule that an event of eventBytes can break, an event that breaks it.
var malformed = map[text.Code]string{
	text.InvalidUTF8:     "{\"features\":{\"carrier\":\"\xff\"},\"label\":1}",
	text.ByteOrderMark:   "\ufeff" + validEvent,
	text.JSONSyntax:      `{"features":{"carrier":"UA","hour":17},"label":1`,
	text.TrailingData:    validEvent + ` 1`,
	text.LoneSurrogate:   `{"features":{"carrier":"\ud800"},"label":1}`,
	text.TooDeep:         `[[[[[[[[[[1]]]]]]]]]]`,
	text.NotObject:       `"features"`,
	text.WrongType:       `{"features":{"carrier":"UA","hour":17},"label":"1"}`,
	text.NullValue:       `{"features":{"carrier":null,"hour":17},"label":1}`,
	text.DuplicateName:   `{"features":{"hour":1,"hour":17},"label":1}`,
	text.UnknownName:     `{"features":{"carrier":"UA","hour":17},"Label":1}`,
	text.MissingMember:   `{"features":{"carrier":"UA","hour":17}}`,
	text.NumberOverflow:  `{"features":{"carrier":"UA","hour":1e999},"label":1}`,
	text.WrongDimension:  `{"features":[1,2],"label":1}`,
	text.IndexRange:      `{"features":{"indices":[99],"values":[1]},"label":1}`,
	text.DuplicateIndex:  `{"features":{"indices":[1,1],"values":[1,1]},"label":1}`,
	text.LabelRange:      `{"features":{"carrier":"UA","hour":17},"label":7}`,
	text.WeightRange:     `{"features":{"hour":17},"label":1,"weight":-1}`,
	text.FeatureOverflow: `{"features":{"hour":1e308},"label":1}`,
}

func padded(text string, size int) []byte {
	return append([]byte(text), bytes.Repeat([]byte{' '}, size-len(text))...)
}

// TestMalformedEventsAreMalformed checks that each event in the table malformed breaks its rule.
func TestMalformedEventsAreMalformed(t *testing.T) {
	s := decisiontest.Load(t, "LOSS=logistic", "DIMENSION=8", "OPERATOR=coco", "UPDATE=projection",
		"SET=l2-ball", "RADIUS=5",
		"STRONG_CONVEXITY=0.001",
		"MECHANISM=tree-gaussian", "WINDOW=64", "EPSILON=1", "DELTA=1e-6", "CLIP=1")
	config := s.EventConfig()
	decoder, err := event.NewJSONDecoder(config)
	if err != nil {
		t.Fatal(err)
	}
	var event event.Event
	for want, text := range malformed {
		if got := decoder.Decode(&event, padded(text, eventBytes)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	if got := decoder.Decode(&event, padded(validEvent, eventBytes)); got != text.OK {
		t.Errorf("%s: %v", validEvent, got)
	}
}

// neighbour is a deployment's input: bursts of events into each partition, half a second apart.
type neighbour struct {
	partitions int
	burst      int // number of events in a burst
	env        map[string]string
	value      func(n, i int) string         // value of the i-th event of the n-th burst
	keys       []string                      // keys of each burst's records; nil: each record has a different user
	size       int                           // size of each value; 0: eventBytes
	record     func(n, i int) records.Record // whole record; nil: built from value, keys and size
	framing    framing                       // framing of a burst; zero: that of logtest.Send
	further    []string                      // decision topics besides the one that all operators have
	kill       notice.Point                  // point at which the process dies, after which it is started again
	at         int                           // how many times the process must reach the point to die
	// starts a command named beside, which runs once after the second burst; nil: none
	beside func(d bubble) *servicetest.Command
}

const bursts = 4

// streams returns the number of streams that the input forms.
func (in neighbour) streams() int {
	if in.env["ORIEL_STREAM"] == "topic" {
		return 1
	}
	return in.partitions
}

func valid(int, int) string { return validEvent }

// neighbours returns inputs whose public properties equal those of an input of valid events only: number, sizes, keys
// and times of events.
func neighbours() map[string]func(n, i int) string {
	all := map[string]func(n, i int) string{
		"another content": func(n, i int) string { return `{"features":{"hour":-3},"label":-1,"weight":1e9}` },
		"the first":       only(0, 0),
		"the last":        only(bursts-1, 5),
		"a burst":         func(n, i int) string { return either(n == 1, validEvent) },
		"all":             func(n, i int) string { return either(true, validEvent) },
		"mixed":           mixed,
	}
	for code, text := range malformed {
		all[code.String()] = func(n, i int) string {
			if i%2 == 0 {
				return text
			}
			return validEvent
		}
	}
	return all
}

func either(bad bool, good string) string {
	if bad {
		return malformed[text.TooDeep]
	}
	return good
}

func only(burst, at int) func(n, i int) string {
	return func(n, i int) string { return either(n == burst && i == at, validEvent) }
}

// mixed returns the i-th event of burst n. Four of five events are malformed, breaking each rule in turn.
func mixed(n, i int) string {
	codes := slices.Sorted(maps.Keys(malformed))
	if at := 6*n + i; at%5 != 0 {
		return malformed[codes[at%len(codes)]]
	}
	return validEvent
}

// TestNeighboursLookAlike checks that nothing but the decisions depends on events. The test's decisions ignore the
// events, so nothing at all may differ. Whatever the events contain, and whether or not they are valid, every request
// must have the same kind, size, time and result. Log, metrics and pages must have the same bytes.
func TestNeighboursLookAlike(t *testing.T) {
	t.Parallel()
	model, values := blind(), neighbours()
	inputs := map[string]neighbour{
		"one partition":  {partitions: 1, burst: 6},
		"two partitions": {partitions: 2, burst: 6},
		"many events":    {partitions: 1, burst: 2000},
		"one stream":     {partitions: 2, burst: 6, env: map[string]string{"ORIEL_STREAM": "topic"}},
		"users":          {partitions: 1, burst: 6, env: map[string]string{"ORIEL_USER_ID": "key", "ORIEL_USER_SEPARATION": "64"}},
	}
	for row, name := range slices.Sorted(maps.Keys(inputs)) {
		in := inputs[name]
		in.value = valid
		want, _ := observe(t, model, in)
		for i, what := range slices.Sorted(maps.Keys(values)) {
			if tiertest.Runs(i%len(inputs) != row, false) {
				continue // in the short form each neighbour runs with one of the inputs
			}
			in.value = values[what]
			got, _ := observe(t, model, in)
			if text := simtest.Difference(want, got); text != "" {
				t.Errorf("%s, %s: %s", name, what, text)
			}
		}
	}
}

// TestNeighboursLookAlikeThroughACrash kills the process at each point, and restarts it on the same disk.
func TestNeighboursLookAlikeThroughACrash(t *testing.T) {
	t.Parallel()
	model := blind()
	for _, at := range []neighbour{
		{kill: notice.PointFenced, at: 1},
		{kill: notice.PointRestored, at: 1},
		{kill: notice.PointProduced, at: 1}, // dies while it opens the incarnation
		{kill: notice.PointProduced, at: 3},
		{kill: notice.PointEnded, at: 1},
		{kill: notice.PointEnded, at: 3},
		{kill: notice.PointProduced, at: 3, partitions: 3, env: map[string]string{"ORIEL_STREAM": "topic"}},
	} {
		at.partitions, at.burst, at.value = max(1, at.partitions), 6, valid
		want, _ := observe(t, model, at)
		at.value = mixed
		got, _ := observe(t, model, at)
		if text := simtest.Difference(want, got); text != "" {
			t.Errorf("%s, number %d: %s", at.kill, at.at, text)
		}
		if !slices.ContainsFunc(got, func(line string) bool { return strings.Contains(line, "killed") }) {
			t.Errorf("%s, number %d: not killed", at.kill, at.at)
		}
	}
}

// TestNeighboursLookAlikeUnderEveryFault makes each request of a run fail in each way, once for each of two neighbours.
// In the short form each request fails in one way, and successive requests of a kind fail in different ways; a run then
// has eight faults, an eighth of a run apart.
func TestNeighboursLookAlikeUnderEveryFault(t *testing.T) {
	t.Parallel()
	model := blind()
	in, neighbour := neighbour{partitions: 1, burst: 6, value: valid}, neighbour{partitions: 1, burst: 6, value: mixed}
	_, trace := observe(t, model, in)
	if len(trace) < 80 {
		t.Errorf("a run of %d requests", len(trace))
	}
	effects := []simtest.Effect{
		simtest.Lost, simtest.Cut, simtest.Refused(kafkago.NotEnoughReplicas),
		simtest.Refused(kafkago.MessageSizeTooLarge),
	}
	before := map[simtest.Kind]int{}
	var all []simtest.Fault
	for _, r := range trace {
		at := (len(before) + before[r.Kind()]) % len(effects)
		for _, effect := range tiertest.Runs(effects[at:at+1], effects) {
			all = append(all, simtest.Fault{Kind: r.Kind(), Skip: before[r.Kind()], Effect: effect})
		}
		before[r.Kind()]++
	}
	each := tiertest.Runs(8, 1)
	for runs, i := (len(all)+each-1)/each, 0; i < runs; i++ {
		var faults []simtest.Fault
		for at := i; at < len(all); at += runs {
			faults = append(faults, all[at])
		}
		want, _ := observe(t, model, in, faults...)
		got, _ := observe(t, model, neighbour, faults...)
		if text := simtest.Difference(want, got); text != "" {
			t.Errorf("%+v: %s", faults, text)
		}
	}
}
