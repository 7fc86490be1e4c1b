package neighbours

import (
	"fmt"
	"math"
	"slices"

	"oriel/operators"
	"oriel/schemas/decision"
)

// sameDecisions describes how the decisions after a record differ from the recorded ones.
func (r *run) sameDecisions(i int, want, got []operators.Decision) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d decisions, %d in the neighbouring stream", len(want), len(got))
	}
	own := 0 // number of decisions of the second topic so far
	for k, d := range want {
		exchanged := false
		if r.frame.Own && d.Output == 1 {
			exchanged = r.answersExchanged(i, own)
			own++
		}
		if fault := r.differs(d, got[k], exchanged); fault != "" {
			return fault
		}
	}
	return ""
}

// answersExchanged reports whether the k-th record of the step that record i closed was an exchanged record.
func (r *run) answersExchanged(i, k int) bool {
	first := i - int(r.frame.Mechanism.Batch)
	return first >= 0 && first+k < i && r.recorded.couples[first+k].Exchanged
}

// differs describes how two decisions differ. An answer to an exchanged record may have other contents of the same
// length.
func (r *run) differs(want, got operators.Decision, exchanged bool) string {
	if want.Index != got.Index || want.Step != got.Step || want.Output != got.Output ||
		len(want.Point) != len(got.Point) || len(want.Extras) != len(got.Extras) {
		return "a decision has another index, step, topic or size in the neighbouring stream"
	}
	differs := func(what string) string {
		return fmt.Sprintf("decision %d: the %s depends on events by other ways than releases", want.Index, what)
	}
	if exchanged {
		if a, b := Lengths(want, r.frame.Extras), Lengths(got, r.frame.Extras); a != b {
			return fmt.Sprintf("answer %d: the length depends on the record that is answered", want.Index)
		}
	} else if !slices.EqualFunc(want.Point, got.Point, sameBits) {
		return differs("point")
	}
	for i, x := range want.Extras {
		y := got.Extras[i]
		if exchanged && i != r.frame.KeyText {
			continue
		}
		if !sameBits(x.Number, y.Number) || !slices.EqualFunc(x.Numbers, y.Numbers, sameBits) || x.Text != y.Text ||
			!slices.Equal(x.List, y.List) {
			return differs(fmt.Sprintf("member %d", i+1))
		}
	}
	return ""
}

// sameBits compares bits, because 0 and −0 can lead to different published bytes.
func sameBits(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }

// Lengths returns the number of bytes of a decision in each encoding. extras are the members of its operator.
func Lengths(d operators.Decision, extras []decision.Extra) (bytes [len(decision.Encodings)]int) {
	for e := range bytes {
		c := decision.Config{Stream: "0", Adjacency: "replace", Unit: "event", Encoding: decision.Encoding(e)}
		bytes[e] = len(decision.NewEncoder(c, extras).Append(nil, d.Index, d.Step, d.Point, d.Extras))
	}
	return bytes
}
