package schemas

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// binaryEncodings are those that are not text.
var binaryEncodings = [...]Encoding{Protobuf, Avro}

// goldenBinary are testDecision with testExtras, and sparseDecision, to the byte; they never change.
var goldenBinary = map[Encoding][2]string{
	Protobuf: {
		`0a0130 1210ab0100000000000000000000000000ff 1807 2007
		2a20 000000000000e03f 48afbc9af2d77abe 0000000000000000 0000000000000840
		3a0d747265652d676175737369616e 408008 4801 51000000000000f03f 598dedb5a0f7c6b03e 6001 6801
		7210 0a057769647468 11000000000000d03f
		721c 0a0673636f726573 1a12 0a10 000000000000f03f 00000000000004c0
		7214 0a0361726d 220d 6122c3a90ae280a8003cefbfbd`,
		`0a0130 1210ab0100000000000000000000000000ff 1807 2007
		322c 0807 1218 0000000000000840 000000000000e03f 48afbc9af2d77abe 1a03 0a0103 1a04 0a020005 1a03 0a0101
		3a0d747265652d676175737369616e 408008 4801 51000000000000f03f 598dedb5a0f7c6b03e 6001 6801`,
	},
	Avro: {
		`c301 6fdc735d72d3d5d0 0230 ab0100000000000000000000000000ff 0e 0e
		00 08 000000000000e03f 48afbc9af2d77abe 0000000000000000 0000000000000840 00
		1a747265652d676175737369616e 8010 02 000000000000f03f 8dedb5a0f7c6b03e 00 00
		06 0a7769647468 00 000000000000d03f 0c73636f726573 02 04 000000000000f03f 00000000000004c0 00
		0661726d 04 1a6122c3a90ae280a8003cefbfbd 00`,
		`c301 6fdc735d72d3d5d0 0230 ab0100000000000000000000000000ff 0e 0e
		02 0e 06 0000000000000840 000000000000e03f 48afbc9af2d77abe 00 06 02 06 00 04 00 0a 00 02 02 00 00
		1a747265652d676175737369616e 8010 02 000000000000f03f 8dedb5a0f7c6b03e 00 00 00`,
	},
}

// goldenBytes is a golden decision.
func goldenBytes(t testing.TB, e Encoding, form Form) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.NewReplacer(" ", "", "\t", "", "\n", "").Replace(goldenBinary[e][form]))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// encoded is a decision in an encoding.
func encoded(d Decision, e Encoding, extras []Extra, values []ExtraValue) []byte {
	d.Encoding = e
	return NewEncoder(d.DecisionConfig, extras).Append(nil, d.Index, d.Step, d.Point, values)
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

// randomDecision has numbers of all sizes, −0 and 0 among them, and small and large counts; its texts are plain.
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
	d.Adjacency, d.Unit = adjacencyCodes[rng.IntN(2)], unitCodes[rng.IntN(2)]
	d.Form, d.Point = Form(rng.IntN(2)), numbers(300)
	for i := range d.Point {
		d.Point[i] = d.Point[rng.IntN(i+1)] // many are alike
	}
	for i := range rng.IntN(20) {
		extras = append(extras, Extra{Name: fmt.Sprintf("x%d", i), Kind: ExtraKind(1 + rng.IntN(3))})
		values = append(values, ExtraValue{Number: number(), Numbers: numbers(20), Text: text(0)})
	}
	return d, extras, values
}

// TestEncodingsSayTheSame: a decision in any encoding reads as the one that is JSON, and prints as its bytes.
func TestEncodingsSayTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 600 {
		d, extras, values := randomDecision(rng)
		line := encoded(d, JSON, extras, values)
		want, err := ParseDecision(line)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range binaryEncodings {
			b := encoded(d, e, extras, values)
			got, err := ParseDecision(b)
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

// TestEncodersRefuseWhatNoDecisionHas: a bug must not publish what no reader takes.
func TestEncodersRefuseWhatNoDecisionHas(t *testing.T) {
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

// TestParsersRefuseWhatIsNoDecision: parts of one, and others' bytes.
func TestParsersRefuseWhatIsNoDecision(t *testing.T) {
	for _, e := range binaryEncodings {
		for _, d := range []Decision{testDecision, sparseDecision()} {
			whole := encoded(d, e, nil, nil)
			for n := range whole {
				if _, err := ParseDecision(whole[:n]); err == nil {
					t.Errorf("%s: %d bytes of %d are taken", Encodings[e], n, len(whole))
				}
			}
			if _, err := ParseDecision(append(whole, '\n')); err == nil {
				t.Errorf("%s: taken with a line end", Encodings[e])
			}
		}
	}
	f := func(e Encoding, form Form, old, replacement string) {
		t.Helper()
		b := goldenBytes(t, e, form)
		o, _ := hex.DecodeString(strings.ReplaceAll(old, " ", ""))
		r, err := hex.DecodeString(strings.ReplaceAll(replacement, " ", ""))
		if changed := bytes.Replace(b, o, r, 1); err != nil || bytes.Equal(changed, b) {
			t.Fatalf("%q does not occur", old)
		} else if _, err := ParseDecision(changed); err == nil {
			t.Errorf("%s: %s in place of %s is taken", Encodings[e], replacement, old)
		}
	}
	const half, infinite, notOne = "000000000000e03f", "000000000000f07f", "000000000000f8ff"
	f(Protobuf, Dense, "0a0130", "0a00")                                  // a stream without a name
	f(Protobuf, Dense, "0a0130", "0a01ff")                                // not UTF-8
	f(Protobuf, Dense, "1210ab", "120f")                                  // an id of 15 bytes
	f(Protobuf, Dense, "1807 2007", "2007 1807")                          // another order
	f(Protobuf, Dense, "1807", "18ffffffffffffffffff02")                  // above 64 bits
	f(Protobuf, Dense, "1807", "18 8080808080808080808001")               // never ends
	f(Protobuf, Dense, "2a20", "2a21")                                    // numbers of 33 bytes
	f(Protobuf, Dense, "2a20", "2affffffffffffffffff01")                  // longer than all
	f(Protobuf, Dense, half, infinite)                                    // not finite
	f(Protobuf, Dense, half, notOne)                                      // not a number
	f(Protobuf, Dense, "3a0d", "320208013a0d")                            // both forms
	f(Protobuf, Dense, "6001", "6000")                                    // no adjacency
	f(Protobuf, Dense, "6001", "6003")                                    // an unknown one
	f(Protobuf, Dense, "6801", "")                                        // no unit
	f(Protobuf, Dense, "7769647468", "696e646578")                        // a member index
	f(Protobuf, Dense, "11000000000000d03f", "11"+infinite)               // a member that is not finite
	f(Protobuf, Dense, "11000000000000d03f", "2a000000000000d03f")        // a value of another kind
	f(Protobuf, Dense, "1a120a10", "1a110a10")                            // a list cut short
	f(Protobuf, Sparse, "0807", "0805")                                   // beyond the dimension
	f(Protobuf, Sparse, "0807", "08ffffff7f")                             // beyond MaxSparse
	f(Protobuf, Sparse, "0000000000000840"+half, half+"0000000000000840") // values rise
	f(Protobuf, Sparse, "0000000000000840"+half, half+half)               // one twice
	f(Protobuf, Sparse, half, "0000000000000000")                         // zero
	f(Protobuf, Sparse, "0a020005", "0a020500")                           // indices fall
	f(Protobuf, Sparse, "0a020005", "0a020505")                           // one twice
	f(Protobuf, Sparse, "0a020005", "0a020305")                           // with two values
	f(Protobuf, Sparse, "1a040a020005", "")                               // a value of nothing
	f(Protobuf, Sparse, "1a030a0101", "1a030a00 01")                      // the same, and a rest
	f(Protobuf, Sparse, "1a030a0103", "1a030a0183")                       // an index that does not end
	f(Avro, Dense, "6fdc", "6fdd")                                        // another schema
	f(Avro, Dense, "0230", "01")                                          // a text of less than nothing
	f(Avro, Dense, "0230", "00")                                          // a stream without a name
	f(Avro, Dense, "ff0e0e", "ff0d0e")                                    // an index below 0
	f(Avro, Dense, "0e0e0008", "0e0e0408")                                // a third form
	f(Avro, Dense, "0e0e0008", "0e0e0007c001")                            // a block with its size
	f(Avro, Dense, "0e0e0008", "0e0e00feffffffffffffffff01")              // longer than all
	f(Avro, Dense, half, infinite)                                        // not finite
	f(Avro, Dense, "b03e0000", "b03e0400")                                // an unknown adjacency
	f(Avro, Dense, "b03e0000", "b03e0004")                                // an unknown unit
	f(Avro, Dense, "060a", "080a")                                        // more members than there are
	f(Avro, Dense, "7769647468", "696e646578")                            // a member index
	f(Avro, Dense, "746800", "746806")                                    // a value of another kind
	f(Avro, Sparse, "020e", "020a")                                       // beyond the dimension
	f(Avro, Sparse, "020e", "02feffffff0f")                               // beyond MaxSparse
	f(Avro, Sparse, "0000000000000840"+half, half+"0000000000000840")     // values rise
	f(Avro, Sparse, "00 06 0206", "00 04 0206")                           // fewer lists than values
	f(Avro, Sparse, "04000a00", "040a0000")                               // indices fall
	f(Avro, Sparse, "04000a00", "0400000000")                             // one twice
	f(Avro, Sparse, "04000a00", "00")                                     // a value of nothing
	f(Avro, Sparse, "0206 00 04", "0206 02 06 00 04")                     // a second block
	f(Avro, Sparse, "0202 00 00 1a", "0202 00 02 1a")                     // a list without an end
	f(Avro, Sparse, "0202 00 00 1a", "0202 00 1a")                        // the same
}

// TestProtobufPassesOverLaterFields: decision.proto promises that later versions may add some.
func TestProtobufPassesOverLaterFields(t *testing.T) {
	whole := goldenBytes(t, Protobuf, Dense)
	want, _ := ParseDecision(whole)
	f := func(field string, taken bool) {
		t.Helper()
		b, err := hex.DecodeString(strings.ReplaceAll(field, " ", ""))
		got, refused := ParseDecision(append(whole[:len(whole):len(whole)], b...))
		if err != nil || (refused == nil) != taken || taken && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v", field, refused)
		}
	}
	f("78 01", true)
	f("79 0102030405060708 7d 01020304 7a 0401020304", true)
	f("8202 00", true) // field 32
	f("78", false)
	f("79 01", false)
	f("7a 05 01", false)
	f("7b 7c", false)             // groups
	f("6801", false)              // a field of this version, again
	f("fa ffffffff 0f 00", false) // a number beyond those of fields
}

// TestParsersBoundWhatTheyAllocate: of a message that claims more than it has.
func TestParsersBoundWhatTheyAllocate(t *testing.T) {
	start, _ := hex.DecodeString("0a01301210ab0100000000000000000000000000ff")
	avro, _ := hex.DecodeString("0230ab0100000000000000000000000000ff0e0e")
	avro = append([]byte(avroHeader), avro...)
	many := binary.AppendUvarint(nil, 1<<62)
	names := bytes.Repeat([]byte{tagMembers, 12, tagName, 1, 'x', tagNumber, 0, 0, 0, 0, 0, 0, 0, 0}, 100_000)
	for _, b := range [][]byte{
		append(append(start, tagDecision), many...),
		append(append(start, tagSparse, 10, tagDimension), many...),
		append(append(start, tagMechanism), many...),
		append(start, names...),
		append(append(avro, branchDense), many...),
		append(append(avro, 2*branchSparse), many...),
		append(append(avro, 2*branchSparse, 0xfe, 0xff, 1, 0, 0), many...),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := ParseDecision(b); err == nil {
			t.Errorf("%x is taken", b[:20])
		}
		runtime.ReadMemStats(&after)
		if size := after.TotalAlloc - before.TotalAlloc; size > 8*MaxSparse+1<<20 {
			t.Errorf("%x…: %d bytes allocated", b[:20], size)
		}
	}
}

// TestBinaryDecisionsAreShort: of the settings that the README and deploy/bench have, d = 32.
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
			encoder := NewEncoder(d.DecisionConfig, testExtras)
			point := make([]float64, 3120)
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

// FuzzParseBinaryDecision: whatever is taken says a decision, which has one text as JSON.
func FuzzParseBinaryDecision(f *testing.F) {
	for _, e := range binaryEncodings {
		f.Add(goldenBytes(f, e, Dense))
		f.Add(goldenBytes(f, e, Sparse))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := ParseDecision(b)
		if err != nil {
			return
		}
		line := d.appendJSON(nil)
		again, err := ParseDecision(line)
		if err != nil || !json.Valid(line) {
			t.Fatalf("%v: %s", err, line)
		}
		if second := again.appendJSON(nil); !bytes.Equal(line, second) {
			t.Fatalf("%s\n%s", line, second)
		}
		if d.Encoding == JSON || d.Extras != nil || d.Encoding == Avro && (d.Index|d.Step|d.Window|d.Batch)>>63 != 0 {
			return
		}
		own := encoded(d, d.Encoding, nil, nil)
		if again, err = ParseDecision(own); err != nil || !bytes.Equal(again.appendJSON(nil), line) {
			t.Fatalf("%v: %x of %s", err, own, line)
		}
	})
}
