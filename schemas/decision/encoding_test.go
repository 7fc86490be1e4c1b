package decision

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// binaryEncodings lists the encodings other than text.
var binaryEncodings = [...]Encoding{Protobuf, Avro}

// goldenBinary holds the bytes of testDecision with testExtras, and of sparseDecision.
var goldenBinary = map[Encoding][2]string{
	Protobuf: {
		`0a0130 1210ab0100000000000000000000000000ff 1807 2007
		2a20 000000000000e03f 48afbc9af2d77abe 0000000000000000 0000000000000840
		3a0d747265652d676175737369616e 408008 4801 51000000000000f03f 598dedb5a0f7c6b03e 6001 6801
		7210 0a057769647468 11000000000000d03f
		721c 0a0673636f726573 1a12 0a10 000000000000f03f 00000000000004c0
		7214 0a0361726d 220d 6122c3a90ae280a8003cefbfbd
		7221 0a056e616d6573 2a18 0a14 0a043d413122 10ac02 1801 208080808080808010 0a00`,
		`0a0130 1210ab0100000000000000000000000000ff 1807 2007
		322c 0807 1218 0000000000000840 000000000000e03f 48afbc9af2d77abe 1a03 0a0103 1a04 0a020005 1a03 0a0101
		3a0d747265652d676175737369616e 408008 4801 51000000000000f03f 598dedb5a0f7c6b03e 6001 6801`,
	},
	Avro: {
		`c301 bb5cec5dc4a1d7c0 0230 ab0100000000000000000000000000ff 0e 0e
		00 08 000000000000e03f 48afbc9af2d77abe 0000000000000000 0000000000000840 00
		1a747265652d676175737369616e 8010 02 000000000000f03f 8dedb5a0f7c6b03e 00 00
		08 0a7769647468 00 000000000000d03f 0c73636f726573 02 04 000000000000f03f 00000000000004c0 00
		0661726d 04 1a6122c3a90ae280a8003cefbfbd
		0a6e616d6573 06 04 083d413122 d804 02 80808080808080 20 00 00 00 00 00 00`,
		`c301 bb5cec5dc4a1d7c0 0230 ab0100000000000000000000000000ff 0e 0e
		02 0e 06 0000000000000840 000000000000e03f 48afbc9af2d77abe 00 06 02 06 00 04 00 0a 00 02 02 00 00
		1a747265652d676175737369616e 8010 02 000000000000f03f 8dedb5a0f7c6b03e 00 00 00`,
	},
}

// goldenBytes returns a golden decision.
func goldenBytes(t testing.TB, e Encoding, form Form) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.NewReplacer(" ", "", "\t", "", "\n", "").Replace(goldenBinary[e][form]))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// encoded returns a decision in an encoding.
func encoded(d Decision, e Encoding, extras []Extra, values []ExtraValue) []byte {
	d.Encoding = e
	return NewEncoder(d.Config, extras).Append(nil, d.Index, d.Step, d.Point, values)
}

func TestEncodersWriteTheGoldenDecisions(t *testing.T) {
	for _, e := range binaryEncodings {
		if got, want := encoded(testDecision, e, testExtras, testValues), goldenBytes(t, e, Dense); !bytes.Equal(got, want) {
			t.Errorf("%s: %x", Encodings[e], got)
		}
		if got, want := encoded(sparseDecision(), e, nil, nil), goldenBytes(t, e, Sparse); !bytes.Equal(got, want) {
			t.Errorf("%s: %x", Encodings[e], got)
		}
	}
}

// TestDecisionsNameTheirSchema checks that Confluent's header names the schema in front of the message, or of the bare
// Avro record.
func TestDecisionsNameTheirSchema(t *testing.T) {
	const id = 0x01020304
	for e, header := range map[Encoding]string{Protobuf: "\x00\x01\x02\x03\x04\x00", Avro: "\x00\x01\x02\x03\x04"} {
		for _, form := range []Form{Dense, Sparse} {
			want, extras, values := testDecision, testExtras, testValues
			if form == Sparse {
				want, extras, values = sparseDecision(), nil, nil
			}
			want.Encoding, want.SchemaID = e, id
			b := NewEncoder(want.Config, extras).Of(want.Stream, want.Incarnation).Append(
				nil, want.Index, want.Step, want.Point, values)
			body := bytes.TrimPrefix(goldenBytes(t, e, form), []byte(avroHeader))
			if string(b) != header+string(body) {
				t.Errorf("%s: %x", Encodings[e], b)
			}
			got, err := Parse(b)
			if got.Extras = nil; err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %v: %+v, want %+v", Encodings[e], err, got, want)
			}
			if line := got.appendJSON(nil); !bytes.Equal(line, encoded(want, JSON, nil, nil)) {
				t.Errorf("%s: %s", Encodings[e], line)
			}
			for n := range len(header) + 1 {
				if _, err := Parse(b[:n]); err == nil {
					t.Errorf("%s: %d bytes of %d are taken", Encodings[e], n, len(b))
				}
			}
			for _, other := range [][]byte{
				append([]byte("\x00\x00\x00\x00\x00"), b[5:]...), append(b[:5:5], body[1:]...), append([]byte(header), b...),
			} {
				if _, err := Parse(other); err == nil {
					t.Errorf("%s: %x is taken", Encodings[e], other)
				}
			}
		}
	}
}

// randomDecision returns a decision with numbers of all sizes, including −0 and 0, with small and large counts, and
// with plain texts.
func randomDecision(rng *rand.Rand) (d Decision, extras []Extra, values []ExtraValue) {
	number := func() float64 {
		large := math.Ldexp(rng.NormFloat64(), rng.IntN(1800)-900)
		return [...]float64{0, math.Copysign(0, -1), 1, rng.NormFloat64(), large}[rng.IntN(5)]
	}
	numbers := func(most int) []float64 {
		list := make([]float64, rng.IntN(most))
		for k := range list {
			list[k] = number()
		}
		return list
	}
	count := func() uint64 { return rng.Uint64() >> (1 + rng.IntN(63)) }
	text := func(least int) string {
		return strings.Repeat("aé\u2028\x00\ufffd\U0001f600\"<", least+rng.IntN(10))
	}
	d = testDecision
	d.Stream, d.Mechanism = text(1), text(0)
	d.Index, d.Step, d.Window, d.Batch = count(), count(), count(), count()
	d.Epsilon, d.Delta = number(), number()
	d.Adjacency, d.Unit = adjacencyCodes[rng.IntN(3)], unitCodes[rng.IntN(3)]
	d.Form, d.Point = Form(rng.IntN(2)), numbers(300)
	for i := range d.Point {
		d.Point[i] = d.Point[rng.IntN(i+1)] // copies coordinates, so that many are equal
	}
	for i := range rng.IntN(20) {
		extras = append(extras, Extra{Name: fmt.Sprintf("x%d", i), Kind: ExtraKind(1 + rng.IntN(4))})
		value := ExtraValue{Number: number(), Numbers: numbers(20), Text: text(0)}
		for range rng.IntN(5) {
			value.List = append(value.List, Entry{text(0), count(), count() * uint64(rng.IntN(2)), count()})
		}
		values = append(values, value)
	}
	return d, extras, values
}

// TestEncodingsParseToEqualDecisions checks that a decision in any encoding parses to the same value as in JSON, and
// that AppendLine gives the bytes of JSON.
func TestEncodingsParseToEqualDecisions(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 600 {
		d, extras, values := randomDecision(rng)
		line := encoded(d, JSON, extras, values)
		want, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range binaryEncodings {
			b := encoded(d, e, extras, values)
			got, err := Parse(b)
			if err != nil || got.Encoding != e {
				t.Fatalf("%s: %v: %x", Encodings[e], err, b)
			}
			if printed := got.appendJSON([]byte("x")); string(printed) != "x"+string(line) {
				t.Fatalf("%s: %s\n%s", Encodings[e], printed, line)
			}
			if got.Encoding = JSON; !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: %+v\n%+v", Encodings[e], got, want)
			}
		}
	}
}

// TestEncodersRefuseImpossibleValues checks that encoders panic on impossible values, because a bug must not publish a
// decision that no reader accepts.
func TestEncodersRefuseImpossibleValues(t *testing.T) {
	refused := func(what string, e Encoding, change func(d *Decision)) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("%s: %s is taken", Encodings[e], what)
			}
		}()
		d := testDecision
		change(&d)
		encoded(d, e, nil, nil)
	}
	for e := range Encoding(len(Encodings)) {
		refused("a number that is none", e, func(d *Decision) { d.Point = []float64{math.NaN()} })
		refused("an infinite number", e, func(d *Decision) { d.Point = []float64{0, math.Inf(-1)} })
		refused("an infinite delta", e, func(d *Decision) { d.Delta = math.Inf(1) })
	}
	for _, e := range binaryEncodings {
		refused("an adjacency without a code", e, func(d *Decision) { d.Adjacency = "other" })
		refused("a unit without a code", e, func(d *Decision) { d.Unit = "" })
	}
	refused("an index of 64 bits", Avro, func(d *Decision) { d.Index = 1 << 63 })
}

// TestBinaryDecisionsAreShort checks the lengths of decisions for the settings in the README and deploy/bench, d = 32.
func TestBinaryDecisionsAreShort(t *testing.T) {
	d := testDecision
	d.Index, d.Step, d.Point = 1<<21-1, 1<<21-1, make([]float64, 32)
	for k := range d.Point {
		d.Point[k] = 0.1234567890123456 * float64(k+1)
	}
	for _, e := range binaryEncodings {
		if n := len(encoded(d, e, nil, nil)); n > 340 {
			t.Errorf("%s: %d bytes", Encodings[e], n)
		}
	}
}

func TestBinaryEncodersAllocateNothing(t *testing.T) {
	for _, e := range binaryEncodings {
		for _, d := range []Decision{testDecision, sparseDecision()} {
			d.Encoding = e
			encoder := NewEncoder(d.Config, testExtras)
			point := make([]float64, 320)
			for i := range point {
				point[i] = float64(i % 5)
			}
			dst := encoder.Append(nil, 1, 1, point, testValues)
			if n := testing.AllocsPerRun(100, func() { dst = encoder.Append(dst[:0], 1, 1, point, testValues) }); n != 0 {
				t.Errorf("%s: %v allocations", Encodings[e], n)
			}
		}
	}
}
