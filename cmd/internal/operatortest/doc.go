// Package operatortest plays stories about operators. A story is a transcript of commands and their output, in
// testdata/stories of an operator's folder. `go test ./cmd/internal/operatortest -rewrite` writes the present output;
// read the difference line by line.
//
//	open                opens a stream with the settings, NAME=VALUE lines without ORIEL_ (=@/FILE is a file beside the story),
//	                    and prints its guarantee and its decisions before any record, or the errors in the settings. It must
//	                    be the first command; a later one begins another stream. Numbers are rounded to digits=2 digits;
//	                    show=(decision,width) shows only these members
//	records             consumes records, a line each, after a key and a | if the operator or users have one. Prints which
//	                    are null events, and why, which add nothing, and the decisions. times=N consumes the lines N times;
//	                    last prints only the last decision of each topic
//	pass n=3            consumes records that are not events, so that time passes
//	time seconds=90     by the clock: lets this time pass, without an argument the length of a step, and prints the decisions
//	would keys=(1-4,c)  prints the keys under which the line, as the next record, would add something
//	kill lost=2         kills the process: another process opens the state that was sealed two records before, and consumes
//	                    the two records again. The bytes of all decisions and of the state must be the same
//	replay              consumes the whole log again from the start, and must give the same bytes, too
//	exchange at=5       replays with the line in place of record 5, and prints which decisions differ. No decision before it
//	                    may differ, and no decision's steps, indices and keys
//	service kill=(committed,produced)
//	                    consumes the whole log in a service with a broker. Its first process dies after the commit of a
//	                    transaction and its second one before it. Every decision must appear once, as in a replay
//
// The noise comes from a fixed key, so that a story has the same noise each time. A story that shows decisions rather
// than noise has an ε that is far too large to protect.
//
// A record adds nothing if it leaves the same state bytes as a record without a readable value, under the same key and
// in the same place. Only forged, late and second feedback may add nothing.
package operatortest
