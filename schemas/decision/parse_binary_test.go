package decision

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
				if _, err := Parse(whole[:n]); err == nil {
					t.Errorf("%s: %d bytes of %d are taken", Encodings[e], n, len(whole))
				}
			}
			if _, err := Parse(append(whole, '\n')); err == nil {
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
		} else if _, err := Parse(changed); err == nil {
			t.Errorf("%s: %s in place of %s is taken", Encodings[e], replacement, old)
		}
	}
	const half, infinite, notOne = "000000000000e03f", "000000000000f07f", "000000000000f8ff"
	f(Protobuf, Dense, "0a0130", "0a00")                                  // a stream without a name
	f(Protobuf, Dense, "0a0130", "0a01ff")                                // not UTF-8
	f(Protobuf, Dense, "1210ab", "120f")                                  // an incarnation of 15 bytes
	f(Protobuf, Dense, "1807 2007", "2007 1807")                          // fields in another order
	f(Protobuf, Dense, "1807", "18ffffffffffffffffff02")                  // an index above 64 bits
	f(Protobuf, Dense, "1807", "18 8080808080808080808001")               // a varint that never ends
	f(Protobuf, Dense, "2a20", "2a21")                                    // 33 bytes are no list of numbers of 8
	f(Protobuf, Dense, "2a20", "2affffffffffffffffff01")                  // a list longer than the message
	f(Protobuf, Dense, half, infinite)                                    // an infinite coordinate
	f(Protobuf, Dense, half, notOne)                                      // a coordinate that is NaN
	f(Protobuf, Dense, "3a0d", "320208013a0d")                            // both a dense and a sparse point
	f(Protobuf, Dense, "6001", "6000")                                    // no adjacency
	f(Protobuf, Dense, "6001", "6004")                                    // an unknown adjacency
	f(Protobuf, Dense, "6801", "")                                        // no unit
	f(Protobuf, Dense, "7769647468", "696e646578")                        // an extra named index
	f(Protobuf, Dense, "11000000000000d03f", "11"+infinite)               // an extra with an infinite number
	f(Protobuf, Dense, "11000000000000d03f", "2a000000000000d03f")        // an extra of another kind than declared
	f(Protobuf, Dense, "1a120a10", "1a110a10")                            // a list of numbers that is cut short
	f(Protobuf, Sparse, "0807", "0805")                                   // an index beyond the dimension
	f(Protobuf, Sparse, "0807", "08ffffff7f")                             // a dimension beyond MaxSparse
	f(Protobuf, Sparse, "0000000000000840"+half, half+"0000000000000840") // values must fall
	f(Protobuf, Sparse, "0000000000000840"+half, half+half)               // a value occurs twice
	f(Protobuf, Sparse, half, "0000000000000000")                         // zero must not be listed
	f(Protobuf, Sparse, "0a020005", "0a020500")                           // indices of a value must rise
	f(Protobuf, Sparse, "0a020005", "0a020505")                           // an index occurs twice for one value
	f(Protobuf, Sparse, "0a020005", "0a020305")                           // one index has two values
	f(Protobuf, Sparse, "1a040a020005", "")                               // a value without indices
	f(Protobuf, Sparse, "1a030a0101", "1a030a00 01")                      // a value without indices, with trailing bytes
	f(Protobuf, Sparse, "1a030a0103", "1a030a0183")                       // an index varint that does not end
	f(Avro, Dense, "bb5c", "bb00")                                        // the fingerprint of another schema
	f(Avro, Dense, "0230", "01")                                          // a text of negative length
	f(Avro, Dense, "0230", "00")                                          // a stream without a name
	f(Avro, Dense, "ff0e0e", "ff0d0e")                                    // a negative index
	f(Avro, Dense, "0e0e0008", "0e0e0408")                                // a third branch of the point's union
	f(Avro, Dense, "0e0e0008", "0e0e0007c001")                            // an array block with its size in bytes
	f(Avro, Dense, "0e0e0008", "0e0e00feffffffffffffffff01")              // an array longer than the message
	f(Avro, Dense, half, infinite)                                        // an infinite coordinate
	f(Avro, Dense, "b03e0000", "b03e0600")                                // an unknown adjacency
	f(Avro, Dense, "b03e0000", "b03e0006")                                // an unknown unit
	f(Avro, Dense, "080a77", "0a0a77")                                    // a count of members above their number
	f(Avro, Dense, "7769647468", "696e646578")                            // an extra named index
	f(Avro, Dense, "746800", "746808")                                    // an extra of another kind than declared
	f(Protobuf, Dense, "7221 0a05", "7220 0a05")                          // a list that is longer than its member
	f(Protobuf, Dense, "0a14 0a04", "0a13 0a04")                          // an entry that is shorter than its fields
	f(Protobuf, Dense, "10ac02 1801", "1801 10ac02")                      // fields of an entry in another order
	f(Protobuf, Dense, "10ac02 1801", "10ac02 2801")                      // a field that no entry has
	f(Protobuf, Dense, "3d413122", "3dff3122")                            // a name that is not UTF-8
	f(Avro, Dense, "d80402", "d80403")                                    // a negative lower bound
	f(Avro, Dense, "06 04 08", "06 06 08")                                // fewer entries than their number
	f(Avro, Dense, "3d413122", "3dff3122")                                // a name that is not UTF-8
	f(Avro, Sparse, "020e", "020a")                                       // an index beyond the dimension
	f(Avro, Sparse, "020e", "02feffffff0f")                               // a dimension beyond MaxSparse
	f(Avro, Sparse, "0000000000000840"+half, half+"0000000000000840")     // values must fall
	f(Avro, Sparse, "00 06 0206", "00 04 0206")                           // fewer lists of indices than values
	f(Avro, Sparse, "04000a00", "040a0000")                               // indices of a value must rise
	f(Avro, Sparse, "04000a00", "0400000000")                             // an index occurs twice for one value
	f(Avro, Sparse, "04000a00", "00")                                     // a value without indices
	f(Avro, Sparse, "0206 00 04", "0206 02 06 00 04")                     // an array in two blocks
	f(Avro, Sparse, "0202 00 00 1a", "0202 00 02 1a")                     // an array without its end
	f(Avro, Sparse, "0202 00 00 1a", "0202 00 1a")                        // an array without its end, one byte shorter
}

// TestProtobufPassesOverLaterFields checks that fields of later versions are skipped, as decision.proto promises.
func TestProtobufPassesOverLaterFields(t *testing.T) {
	whole := goldenBytes(t, Protobuf, Dense)
	want, _ := Parse(whole)
	f := func(field string, taken bool) {
		t.Helper()
		b, err := hex.DecodeString(strings.ReplaceAll(field, " ", ""))
		got, refused := Parse(append(whole[:len(whole):len(whole)], b...))
		if err != nil || (refused == nil) != taken || taken && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v", field, refused)
		}
	}
	f("78 01", true)
	f("79 0102030405060708 7d 01020304 7a 0401020304", true)
	f("8202 00", true) // the unknown field 32
	f("78", false)
	f("79 01", false)
	f("7a 05 01", false)
	f("7b 7c", false)             // start and end of a group
	f("6801", false)              // a second unit, a field of this version
	f("fa ffffffff 0f 00", false) // a field number beyond Protobuf's limit
}

// TestParsersBoundWhatTheyAllocate checks the memory allocated for a message that claims more elements than it
// contains.
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
		if _, err := Parse(b); err == nil {
			t.Errorf("%x is taken", b[:20])
		}
		runtime.ReadMemStats(&after)
		if size := after.TotalAlloc - before.TotalAlloc; size > 8*MaxSparse+1<<20 {
			t.Errorf("%x…: %d bytes allocated", b[:20], size)
		}
	}
}

// FuzzParseBinaryDecision checks that a decision in accepted bytes has exactly one JSON text.
func FuzzParseBinaryDecision(f *testing.F) {
	for _, e := range binaryEncodings {
		d := testDecision
		d.SchemaID = 7
		f.Add(encoded(d, e, testExtras, testValues))
		f.Add(goldenBytes(f, e, Dense))
		f.Add(goldenBytes(f, e, Sparse))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Parse(b)
		if err != nil {
			return
		}
		line := d.appendJSON(nil)
		again, err := Parse(line)
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
		if again, err = Parse(own); err != nil || !bytes.Equal(again.appendJSON(nil), line) {
			t.Fatalf("%v: %x of %s", err, own, line)
		}
	})
}
