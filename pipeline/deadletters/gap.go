package deadletters

import "fmt"

// gap is a range of the input's offsets [from, until) that no row of verdicts covers. Letters go on behind it, because
// only letters are missing: decisions and states do not depend on verdicts. One letter marked oriel-lost stands for it.
type gap struct {
	from, until int64
	why         cause
}

// cause says why a gap has no verdicts.
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
	rowsLost = cause{
		"verdicts_lost", "the brokers have lost their verdicts; letters not written before are lost",
	}
)

// isGap reports whether a letter with this reason stands for a gap. The reason decides, because a record may have had
// every other header of a gap's letter itself.
func isGap(reason string) bool {
	for _, why := range []cause{otherVersion, rowsDeleted, topicMadeAgain, rowsLost} {
		if why.reason == reason {
			return true
		}
	}
	return false
}

func (g gap) String() string {
	return fmt.Sprintf("offsets %d to %d of the input have no verdicts: %s. One letter with oriel-lost stands for them",
		g.from, g.until-1, g.why.text)
}

// cause finds why the row at hand does not continue what is covered.
func (r *statusReader) cause() cause {
	switch {
	case r.seen: // nothing lies between the row before and this one: none was ever written
	case r.found != (cause{}):
		return r.found
	case r.begin > r.place: // retention has passed the place from which rows had to be read
		return rowsDeleted
	case r.covered < 0 && r.sealing: // the log has its first record, which is not the incarnation's first row
		return topicMadeAgain
	}
	if r.sealing {
		return rowsLost
	}
	return otherVersion
}
