package decision

import (
	"math"
	"strings"
	"testing"

	"oriel/schemas/text"
)

// TestLengthsFollowFromPrintedValues checks how the length of a decision follows from its values, because operators
// whose decisions must have one length rely on it. In Protobuf and Avro all numbers take equally many bytes, zero
// included. A text of less than 64 bytes takes one byte more than it has in every encoding, or two in JSON, where it
// also takes its escapes. In JSON numbers take their characters.
func TestLengthsFollowFromPrintedValues(t *testing.T) {
	extras := []Extra{
		{Name: "name", Kind: ExtraText},
		{Name: "rest", Kind: ExtraText},
		{Name: "number", Kind: ExtraNumber},
		{Name: "numbers", Kind: ExtraNumbers},
	}
	const most = 63
	numbers := []float64{
		1, 0, math.Copysign(0, -1), -1, 10, 1e15, -0.1, math.MaxFloat64, math.SmallestNonzeroFloat64, 1.0 / 3,
	}
	characters := func(x float64) int { return len(text.AppendFloat(nil, x+0)) } // −0 + 0 = 0
	for e, name := range Encodings {
		for _, id := range []uint32{0, 1 << 20} {
			c := testDecision.Config
			c.Encoding, c.SchemaID = Encoding(e), id
			encoder, want := NewEncoder(c, extras), -1
			for i, x := range numbers {
				y := numbers[len(numbers)-1-i]
				for _, size := range []int{0, 1, 31, most - 1, most} {
					line := encoder.AppendTimed(nil, 7, 7, 1<<40, []float64{x, y}, []ExtraValue{
						{Text: strings.Repeat("a", size)},
						{Text: strings.Repeat(" ", most-size)},
						{Number: y},
						{Numbers: []float64{y, x, x}},
					})
					length := len(line)
					if Encoding(e) == JSON {
						length -= 3*characters(x) + 3*characters(y)
					}
					if want < 0 {
						want = length
					}
					if length != want {
						t.Fatalf("%s: %d bytes, of %g, %g and a text of %d bytes, want %d: %q", name, length, x, y, size, want, line)
					}
				}
			}
		}
	}
}

// TestLongerTextsTakeAnotherByte checks the bound of TestLengthsFollowFromPrintedValues, on which bounds of operators
// rest.
func TestLongerTextsTakeAnotherByte(t *testing.T) {
	length := func(e Encoding, first, second int) int {
		c := testDecision.Config
		c.Encoding = e
		return len(NewEncoder(c, []Extra{{Name: "a", Kind: ExtraText}, {Name: "b", Kind: ExtraText}}).Append(nil, 1, 1, nil,
			[]ExtraValue{{Text: strings.Repeat("a", first)}, {Text: strings.Repeat("b", second)}}))
	}
	if length(Avro, 64, 0) != length(Avro, 32, 32)+1 {
		t.Error("in Avro the length of a text of 64 bytes does not take two bytes")
	}
	for _, e := range []Encoding{JSON, Protobuf} {
		if length(e, 64, 0) != length(e, 32, 32) {
			t.Errorf("in %s a text of 64 bytes takes more than 64", Encodings[e])
		}
	}
}
