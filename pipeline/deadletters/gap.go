package deadletters

import "fmt"

// gap is a range of offsets [from, until) of one partition of the input that no row of statuses covers. Letters
// continue after a gap, because nothing else is missing: decisions and states do not depend on these rows. One letter
// marked oriel-lost stands for the gap.
type gap struct {
	from, until int64
	why         cause
}

// cause is the reason why the offsets of a gap have no statuses.
type cause struct {
	reason string // value of the header oriel-reason; consumers read it, so it must not change
	text   string // description for the log
}

// The causes of a gap.
var (
	rowsDeleted = cause{
		"verdicts_deleted", "their verdicts were deleted before they were read; letters not written before are lost. " +
			"Keep verdicts (retention.ms of their topic) longer than `oriel letters` is away",
	}
	topicMadeAgain = cause{
		"verdict_topic_made_again", "the verdict topic was deleted and made again; letters not written before are lost",
	}
	rowsLost = cause{"verdicts_lost", "the brokers have lost their verdicts; letters not written before are lost"}
)

// causeOf returns the cause of a gap, given the reason in its letter, or zero if the reason belongs to a record's
// letter. Only the reason distinguishes the two kinds of letters, because a record may have every other header itself.
func causeOf(reason string) cause {
	for _, why := range []cause{rowsDeleted, topicMadeAgain, rowsLost} {
		if why.reason == reason {
			return why
		}
	}
	return cause{}
}

// text describes the gap; of names the input or a partition of it.
func (g gap) text(of string) string {
	return fmt.Sprintf("offsets %d to %d of %s have no verdicts: %s. One letter with oriel-lost stands for them",
		g.from, g.until-1, of, g.why.text)
}

// cause determines why the current row does not continue the previous row.
func (r *statusReader) cause() cause {
	switch {
	case r.seen: // nothing lies between this row and the previous one: the missing row was never written
	case r.found != (cause{}):
		return r.found
	case r.begin > r.place: // retention has deleted the position from which rows should be read
		return rowsDeleted
	case !r.known: // the topic has its first record, but this is not the incarnation's first row
		return topicMadeAgain
	}
	return rowsLost
}
