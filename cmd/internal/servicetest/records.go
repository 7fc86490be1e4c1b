package servicetest

import (
	"bytes"
	"fmt"

	"oriel/pipeline/kafka/records"
)

// Canary is a text that tests search for in everything that leaves the service. Tests also search for its hexadecimal
// form and its form as a number, in case it was re-encoded.
const Canary = "canary7f3a"

// WithBad returns n events, one bad record among every ten.
func WithBad(from, n int) []records.Record {
	all := Events(from, n)
	for i := range all {
		if bad, ok := badAt(from + i); ok {
			all[i] = bad
		}
	}
	return all
}

func badAt(i int) (records.Record, bool) {
	return records.Record{Key: []byte("k"), Value: fmt.Appendf(nil, "bad %d", i)}, i%10 == 7
}

// BadOf returns the bad records among the first n records of WithBad, by offset.
func BadOf(n int) map[int64]records.Record {
	bad := map[int64]records.Record{}
	for i := range n {
		if r, ok := badAt(i); ok {
			bad[int64(i)] = r
		}
	}
	return bad
}

// OfUser returns the event with its user set.
func OfUser(user string, r records.Record) records.Record {
	r.Key = []byte(user)
	return r
}

// OfNineUsers returns n records of 9 users in turn. Some of a user's events are only 4 steps apart, some values are
// malformed, and a few records name no user.
func OfNineUsers(n int) []records.Record {
	all := make([]records.Record, n)
	for i := range all {
		all[i] = OfUser(fmt.Sprintf("user %d", i%9), Event(i))
		switch i % 13 {
		case 4:
			all[i].Key = all[max(0, i-4)].Key
		case 6:
			all[i].Value = []byte("no event")
		case 8:
			all[i].Key = nil
		case 10: // a malformed value with a key
			all[i].Headers = records.HeadersOf(make([]records.Header, records.MaxHeaders+1)...)
		}
	}
	return all
}

// Expected returns the reasons of the records that become null events, by the definition of user-level privacy: only
// the user and the step of a record matter.
func Expected(list []records.Record, separation int) (reasons []string) {
	last := map[string]int{}
	for i, r := range list {
		before, known := last[string(r.Key)]
		switch {
		case len(r.Key) == 0:
			reasons = append(reasons, fmt.Sprintf("%d no_user", i))
		case known && i-before < separation:
			reasons = append(reasons, fmt.Sprintf("%d too_soon", i))
		default:
			last[string(r.Key)] = i
			switch {
			case r.Headers.Len() > records.MaxHeaders:
				reasons = append(reasons, fmt.Sprintf("%d too_large", i))
			case !bytes.HasPrefix(r.Value, []byte("{")):
				reasons = append(reasons, fmt.Sprintf("%d json_syntax", i))
			}
		}
	}
	return reasons
}

// Value returns a record with this text as its value.
func Value(text string) records.Record { return records.Record{Value: []byte(text)} }

// Event returns the i-th event of a small deployment.
func Event(i int) records.Record {
	return records.Record{Value: fmt.Appendf(nil, `{"features":{"carrier":"c%d","hour":%d},"label":%d}`, i%7, i%24, i/3%2)}
}

// Events returns n events, beginning with the from-th.
func Events(from, n int) []records.Record {
	all := make([]records.Record, n)
	for i := range all {
		all[i] = Event(from + i)
	}
	return all
}

// ByUser has settings of user-level privacy.
var ByUser = map[string]string{"ORIEL_USER_ID": "key", "ORIEL_USER_SEPARATION": "5", "ORIEL_MECHANISM": "blt"}
