package decision

import (
	"bytes"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"
)

// goldenTimes holds the bytes of the time that follow the other members of a golden decision.
var goldenTimes = map[Encoding]string{
	JSON:     hex.EncodeToString([]byte(`,"time":1700000000123}`)),
	Protobuf: "720f 0a0474696d65 11 00b08756febc7842",
	Avro:     "0874696d65 00 00b08756febc7842 00",
}

const goldenTime = 1700000000123

func timed(e Encoding, time int64, extras []Extra, values []ExtraValue) []byte {
	d := testDecision
	d.Encoding = e
	return NewEncoder(d.Config, extras).AppendTimed(nil, d.Index, d.Step, time, d.Point, values)
}

// TestTimeFollowsAllOtherMembers checks that the time follows all other members, is read back from each encoding,
// and changes nothing before it.
func TestTimeFollowsAllOtherMembers(t *testing.T) {
	for e, text := range goldenTimes {
		for _, extras := range []int{0, len(testExtras)} {
			b := timed(e, goldenTime, testExtras[:extras], testValues[:extras])
			want, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
			if err != nil || !bytes.HasSuffix(b, want) {
				t.Errorf("%s: %x", Encodings[e], b)
			}
			without := timed(e, NoTime, testExtras[:extras], testValues[:extras])
			if same := encoded(testDecision, e, testExtras[:extras], testValues[:extras]); !bytes.Equal(without, same) {
				t.Errorf("%s: without a time %x", Encodings[e], without)
			}
			d, err := Parse(b)
			if err != nil || d.Time() != goldenTime || len(d.Extras) != extras+1 {
				t.Errorf("%s: %v: time %d, %d members", Encodings[e], err, d.Time(), len(d.Extras))
			}
			if line, err := AppendLine(nil, b); err != nil || !bytes.HasSuffix(line, []byte(`,"time":1700000000123}`)) {
				t.Errorf("%s: %v: %s", Encodings[e], err, line)
			}
		}
		for _, time := range []int64{0, 1, LatestTime} {
			if d, err := Parse(timed(e, time, nil, nil)); err != nil || d.Time() != time {
				t.Errorf("%s: %v: %d for %d", Encodings[e], err, d.Time(), time)
			}
		}
	}
}

// TestTheClocksStepsHaveALength checks that decisions of steps by the clock have the step's length before their time,
// in each encoding, and that Decision is what Parse reads.
func TestTheClocksStepsHaveALength(t *testing.T) {
	for e := range goldenTimes {
		for _, time := range []int64{NoTime, goldenTime} {
			d := testDecision
			d.Encoding, d.Batch, d.Seconds = e, 0, 86_400
			encoder := NewEncoder(d.Config, testExtras[:2])
			b := encoder.AppendTimed(nil, d.Index, d.Step, time, d.Point, testValues[:2])
			line, err := AppendLine(nil, b)
			want := `,"seconds":86400}`
			if time >= 0 {
				want = `,"seconds":86400,"time":1700000000123}`
			}
			if err != nil || !bytes.HasSuffix(line, []byte(want)) || !bytes.Contains(line, []byte(`,"batch":0,`)) {
				t.Errorf("%s: %v: %s", Encodings[e], err, line)
			}
			read, err := Parse(b)
			is := encoder.Decision(d.Index, d.Step, time, d.Point, testValues[:2])
			if err != nil || !reflect.DeepEqual(is, read) {
				t.Errorf("%s: %+v, parsed %+v, %v", Encodings[e], is, read, err)
			}
		}
	}
}

// TestDecisionsWithoutTime checks that Time returns NoTime for a decision without the member, and for a decision whose
// member time is not a valid time.
func TestDecisionsWithoutTime(t *testing.T) {
	for _, text := range []string{``, `,"time":-2`, `,"time":1.5`, `,"time":"1"`, `,"time":253402300800000`, `,"time":null`} {
		d, err := Parse(append(bytes.TrimSuffix(encoded(testDecision, JSON, nil, nil), []byte("}")), text+"}"...))
		if err != nil || d.Time() != NoTime {
			t.Errorf("%q: %d, %v", text, d.Time(), err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("an operator may have a member time of its own")
		}
	}()
	NewEncoder(testDecision.Config, []Extra{{Name: "time", Kind: ExtraNumber}})
}

func TestTimeAllocatesNothing(t *testing.T) {
	for e := range goldenTimes {
		d := testDecision
		d.Encoding = e
		encoder := NewEncoder(d.Config, testExtras)
		dst := encoder.AppendTimed(nil, 1, 1, goldenTime, d.Point, testValues)
		if n := testing.AllocsPerRun(100, func() {
			dst = encoder.AppendTimed(dst[:0], 1, 1, goldenTime, d.Point, testValues)
		}); n != 0 {
			t.Errorf("%s: %g allocations", Encodings[e], n)
		}
	}
}
