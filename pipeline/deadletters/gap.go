package deadletters

import "fmt"

// gap is a range of offsets [from, until) of one partition of the input that no row of verdicts covers. Letters go on
// behind it, because only letters are missing: decisions and states do not depend on verdicts. One letter marked
// oriel-lost stands for it.
type gap struct {
	from, until int64
	why         cause
	first       bool // before the first row that was ever read
}

// cause is the reason why a gap has no verdicts.
type cause struct {
	reason string // in the header oriel-reason: read by others, it does not change
	text   string // for the log
}

// The causes of a gap.
var (
	// A version from before verdicts wrote dead letters in the transaction of its decisions.
	otherVersion = cause{
		"other_version", "a version of Oriel that seals no verdicts has taken them, and wrote their letters itself",
	}
	rowsDeleted = cause{
		"verdicts_deleted", "their verdicts were deleted before they were read; letters not written before are lost. " +
			"Keep verdicts (retention.ms of their topic) longer than `oriel letters` is away",
	}
	topicMadeAgain = cause{
		"verdict_topic_made_again", "the verdict topic was deleted and made again; letters not written before are lost",
	}
	rowsLost = cause{"verdicts_lost", "the brokers have lost their verdicts; letters not written before are lost"}
)

// causeOf returns the cause of a gap by the reason in its letter; zero for the reason of another kind of letter. Only
// the reason distinguishes them, because a record may carry every other header of a gap's letter itself.
func causeOf(reason string) cause {
	for _, why := range []cause{otherVersion, rowsDeleted, topicMadeAgain, rowsLost} {
		if why.reason == reason {
			return why
		}
	}
	return cause{}
}

// text describes the gap, of an input or of a partition of it.
func (g gap) text(of string) string {
	return fmt.Sprintf("offsets %d to %d of %s have no verdicts: %s. One letter with oriel-lost stands for them",
		g.from, g.until-1, of, g.why.text)
}

// cause finds out why the current row does not continue the rows before it.
func (r *statusReader) cause() cause {
	switch {
	case r.seen: // nothing lies between the row before and this one: none was ever written
	case r.found != (cause{}):
		return r.found
	case r.begin > r.place: // retention has passed the place from which rows had to be read
		return rowsDeleted
	case !r.known && r.sealing: // the log has its first record, which is not the incarnation's first row
		return topicMadeAgain
	}
	if r.sealing {
		return rowsLost
	}
	return otherVersion
}
