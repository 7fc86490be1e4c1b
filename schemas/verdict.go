package schemas

// A verdict is a byte that says what became of one offset of the input. Its numbers are stored.
const (
	verdictNone  = 0 // no record: a marker, or a record of an aborted transaction
	verdictFirst = 1 // of code 0: valid
)

// Verdict is the verdict of a record.
func (c Code) Verdict() byte { return byte(c) + verdictFirst }

// OfVerdict returns the code of a verdict, which is OK where there is nothing to tell: at a valid record, and at no
// record. It is false for a verdict that this version does not know.
func OfVerdict(v byte) (Code, bool) {
	switch {
	case v == verdictNone:
		return OK, true
	case int(v)-verdictFirst < len(codes):
		return Code(v - verdictFirst), true
	}
	return OK, false
}
