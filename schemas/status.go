package schemas

// A record status is a byte for the decoding of one offset of the input. Its numbers are stored and must not change.
const (
	statusNoRecord = 0 // an offset without a record: a marker, or a record of an aborted transaction
	statusOfOK     = 1 // the other codes' statuses follow in order
)

// Status returns the status of a record with this code.
func (c Code) Status() byte { return byte(c) + statusOfOK }

// CodeOfStatus returns the code of a status: OK for a valid record, and for an offset without a record. It returns
// false for a status that this version does not know.
func CodeOfStatus(status byte) (Code, bool) {
	switch {
	case status == statusNoRecord:
		return OK, true
	case int(status)-statusOfOK < len(codes):
		return Code(status - statusOfOK), true
	}
	return OK, false
}
