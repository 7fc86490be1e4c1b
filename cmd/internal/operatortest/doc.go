// Package operatortest plays stories about operators: transcripts of commands and of what followed, in testdata/stories
// of an operator's folder. `go test ./cmd/internal/operatortest -rewrite` writes what follows now; read the difference
// line by line.
//
//	open                opens a stream of the settings, NAME=VALUE lines without ORIEL_ (=@/FILE is a file beside the story),
//	                    and tells what it promises and decides before any record, or what is wrong with them. Always the
//	                    first; a later one begins another stream. Numbers are rounded to digits=2; show=(decision,width)
//	                    leaves other members out
//	records             takes records, a line each, behind a key and a | where the operator or users have one: tells which
//	                    are null events, and why, which add nothing, and what is decided. times=N takes the lines N times;
//	                    last shows the last decision of each topic alone
//	pass n=3            takes records that are no events: time passes
//	would keys=(1-4,c)  tells under which keys a record of the line would add something, if it came next
//	kill lost=2         kills the process: another one opens the state that was sealed two records before, and takes these
//	                    again: the bytes of all decisions and of the state are the same
//	replay              takes the whole log again from the start, and wants the same bytes, too
//	exchange at=5       replays with the line in the place of a record, and tells which decisions are others: none before
//	                    it; that there are as many, of the same steps, indices and keys
//	service kill=(committed,produced)
//	                    takes the whole log through a service over a broker, whose first process dies behind the commit of a
//	                    transaction and whose second one before it: every decision is there, once, and is that of a replay
//
// Noise is that of a key of the stories, so that it falls the same each time; where a story is to show what is decided
// and not how noisy it is, its ε is far beyond any that protects.
//
// A record adds nothing when it leaves the bytes of a state that one without a readable value leaves, under the same
// key and in the same place. Forged, late and second answers may do that alone.
package operatortest
