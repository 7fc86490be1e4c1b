// Package operatortest plays stories about operators. A story is a transcript of commands and their output, in
// testdata/stories of an operator's folder. `go test ./cmd/internal/operatortest -rewrite` writes the present output;
// read the difference line by line.
//
//	open                opens a stream with the settings, NAME=VALUE lines without ORIEL_ (=@/FILE is a file beside the story),
//	                    and prints its guarantee and its decisions before any record, or the errors in the settings. It must
//	                    be the first command; a later one begins another stream. Numbers are rounded to digits=2 digits;
//	                    show=(decision,width) leaves other members out
//	records             consumes records, a line each, after a key and a | if the operator or users have one. Prints which
//	                    are null events, and why, which add nothing, and the decisions. times=N consumes the lines N times;
//	                    last prints the last decision of each topic alone
//	pass n=3            consumes records that are not events, so that time passes
//	would keys=(1-4,c)  prints under which keys a record of the line would add something, if it came next
//	kill lost=2         kills the process: another one opens the state that was sealed two records before, and consumes
//	                    these again. The bytes of all decisions and of the state must be the same
//	replay              consumes the whole log again from the start, and must give the same bytes, too
//	exchange at=5       replays with the line in the place of a record, and prints which decisions differ. None before it
//	                    may differ, nor the decisions' number, steps, indices and keys
//	service kill=(committed,produced)
//	                    consumes the whole log in a service with a broker. Its first process dies after the commit of a
//	                    transaction and its second one before it. Every decision must appear once, as in a replay
//
// The noise comes from a fixed key of the stories, so that it is the same each time. A story that shows decisions
// rather than noise has an ε that is far too large to protect.
//
// A record adds nothing if it leaves the same state bytes as a record without a readable value would, under the same
// key and in the same place. Only forged, late and second feedback may add nothing.
package operatortest
