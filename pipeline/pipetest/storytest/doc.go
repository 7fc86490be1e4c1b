// Package storytest plays stories about a service: transcripts of commands and their results, one file for each story.
// Each runs in its own bubble with a deployment of package pipetest. `go test ./pipeline/pipetest/storytest -rewrite`
// writes the current results into the files; review the changes line by line.
//
//	deployment partitions=1     makes topics; must come first. With plays=2 each second step makes one more decision, for a second topic;
//	                            owes=2 asks for two decisions before the first event;
//	                            horizon=N ends streams after N steps, users=S keeps events of a user S steps apart
//	grow partitions=3           adds partitions to the input
//	topics                      does the same as `oriel topics`, and lists its actions
//	start a                     starts a process on the disk of the last one with its name, or of disk=NAME; group=NAME sets another group
//	stop a, kill a              ends it as SIGTERM or SIGKILL does; kill a at=produced nth=2 makes it die at that point later
//	append partition=0 n=5      appends events, of size=N bytes and under key=K
//	wait 2s                     lets time pass, and lists the processes' messages of this time
//	fail member=a api=EndTxn topic=T partition=0 skip=1 count=1 effect=lost
//	                            makes requests of a kind fail: lost, cut, late (with delay=20s), or an error code by its number
//	mend                        ends all faults
//	requests api=(Produce,EndTxn)
//	                            lists the requests since the last time, of some APIs or of those that a transaction needs
//	decisions partition=0       lists committed decisions: index and offset of the event; uncommitted adds all other decisions that were ever
//	                            readable; second selects the second topic
//	group partition=0           prints the group's committed offset
//	tear a parts=(decisions,changelog)
//	                            commits these parts of the transaction in which a process died, and aborts the others; with forged, decisions
//	                            have other contents; with followed, the local store of a has the transaction
//	reset to=N                  sets the group's offset
//	delete topic=T before=N     deletes records, as retention does
//	drop topic=T                deletes a topic; with again it is created again at once, empty
//	upgrade                     starts later processes with other semantics
//	save, check                 run oriel replay --save and --check
//
// TestStories plays stories with one stream for each partition, and TestStoriesOfAWholeTopic with one stream of the
// whole input. In the second case partition=0 means that stream in commands and messages, and requests for the order
// log are not listed.
//
// It is a separate package because datadriven defines the flag -rewrite, which tests of other packages define, too.
package storytest
