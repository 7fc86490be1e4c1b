// Package storytest plays stories about a service: transcripts of commands and of what followed, one file a story, each
// in a bubble of its own with a deployment of package pipetest. `go test ./pipeline/pipetest/storytest -rewrite` writes
// what follows now; read the difference line by line.
//
//	deployment partitions=1     makes topics; always the first; with plays=2 each second step has a decision more, for a second topic;
//	                            owes=2 has decisions before the first event;
//	                            horizon=N ends streams after N steps, users=S has users kept S steps apart
//	grow partitions=3           adds partitions to the input
//	topics                      does what `oriel topics` does, and tells it
//	start a                     starts a process: on the disk that the last one of its name left, or of disk=NAME; in another group=NAME
//	stop a, kill a              ends it as SIGTERM or SIGKILL does; kill a at=produced nth=2 lets it die there later
//	append partition=0 n=5      appends events, of size=N bytes and under key=K
//	wait 2s                     lets time pass, and tells what the processes said meanwhile
//	fail member=a api=EndTxn topic=T partition=0 skip=1 count=1 effect=lost
//	                            lets requests of a kind fail: lost, cut, late (with delay=20s), or an error code by its number
//	mend                        ends all faults
//	requests api=(Produce,EndTxn)
//	                            lists what was sent since the last time, of some APIs or of those that a transaction takes
//	decisions partition=0       lists what is committed: index and offset of its event; uncommitted shows what was ever readable; second is
//	                            the second topic
//	group partition=0           is the group's committed offset
//	tear a parts=(decisions,changelog)
//	                            commits these parts of the transaction in which a process was told to die, and aborts the others; forged
//	                            decisions say something else; the local store of a has followed
//	reset to=N                  sets the group's offset
//	delete topic=T before=N     deletes records, as retention does
//	drop topic=T                deletes a topic; again makes it again at once, empty
//	upgrade                     lets later processes be of other semantics
//	save, check                 are oriel replay --save and --check
//
// Stories are played where each partition is a stream, and where the whole input is one (RunWhole): then partition=0 of
// what the service says is that stream, and requests for the order log are not listed.
//
// Its own package, because datadriven defines the flag -rewrite, as tests of other packages do.
package storytest
