package schemas

// A verdict is a byte for the outcome of one offset of the input. Its numbers are stored and must not change.
const (
	verdictNone  = 0 // no record: a marker, or a record of an aborted transaction
	verdictFirst = 1 // verdict of code 0: valid
)

// Verdict returns the verdict of a record.
func (c Code) Verdict() byte { return byte(c) + verdictFirst }

// OfVerdict returns the code of a verdict: OK for a valid record, and for an offset without a record. It returns false
// for a verdict that this version does not know.
func OfVerdict(v byte) (Code, bool) {
	switch {
	case v == verdictNone:
		return OK, true
	case int(v)-verdictFirst < len(codes):
		return Code(v - verdictFirst), true
	}
	return OK, false
}
