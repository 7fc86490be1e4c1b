package schemas

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// TestParsersRefuseWhatIsNoDecision checks that truncated decisions and foreign bytes are refused.
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

// TestProtobufPassesOverLaterFields checks that fields of later versions are skipped, as decision.proto promises.
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

// TestParsersBoundWhatTheyAllocate checks the memory for a message that claims more elements than it has.
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

// FuzzParseBinaryDecision checks that any accepted bytes are a decision with exactly one form as JSON.
func FuzzParseBinaryDecision(f *testing.F) {
	for _, e := range binaryEncodings {
		d := testDecision
		d.SchemaID = 7
		f.Add(encoded(d, e, testExtras, testValues))
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
