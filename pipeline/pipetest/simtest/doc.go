// Package simtest runs processes, a broker and the network between them in one test, with a clock of its own.
//
// Deployment is a whole service within a test, in a bubble of testing/synctest: the embedded broker, pipes for
// connections, memory for disks, and a clock that moves when everybody waits.
//
//	synctest.Test(t, func(t *testing.T) {
//		d, setup := New(t), pipetest.NewSetup()
//		err := setup.Prepare(t.Context(), d.Client(), 2)               // topics and manifests
//		a := d.Start("a", NewDisk(), setup.Run)               // a process
//		d.Fail(Fault{Kind: kind, Skip: 2, Effect: Lost})
//		a.KillAt(notice.PointProduced, 3)                            // dies there, its disk as it was
//		a.KillAtRequest(17, true)                                      // or there: the broker hears it, and nobody its answer
//		time.Sleep(time.Minute)                                        // costs what is done in it
//		b := d.Start("b", a.Disk(), setup.Run)                         // the same machine, started again
//		trace := d.Requests()                                          // what everybody did on the wire, and when
//	})
//
// Two runs of one input and one script give the same trace, to the nanosecond. What that takes:
//   - Each message is on its way for a time of its own (latency), so that goroutines hardly ever meet at one moment and the scheduler
//     decides nothing; what is left of it is taken out by an order of requests (order). With Options.Seed the time is drawn for each
//     request, so that each seed is another order of things.
//   - Requests that meet nevertheless arrive by what they ask for, faults count them as they arrive, and the same becomes of those that
//     ask for the same. The syncs of a generation meet at the broker (order.go).
//   - Pauses have no jitter (kafka.Config.Jitter). kafka-go's own is seeded by the clock, which is the bubble's.
//   - ApiVersions is not recorded and takes no time: kafka-go asks it on a new connection, and whether it needs one depends on which of
//     two goroutines comes first.
//   - Nonces, keys, ids of topics, members and incarnations are random, but of one width. Compare sizes; or let each run go on from a
//     copy of one data directory (NewIn), which holds the same topics and secrets.
//
// What to beware of:
//   - A bubble must be left by all its goroutines, and its clock stops with the test's own: New leaves a clean-up that kills the
//     members, closes the broker and sleeps until what still sleeps has ended. What a test starts beside it must end first.
//   - A goroutine that waits for the network, a file or another bubble keeps the clock still. Nothing here may touch a socket; reading
//     a file does not wait.
//   - What holds channels or timers must not cross bubbles: no client, store or HTTP transport in a package variable. The pools of
//     kafka-go, Pebble and net/http hold none.
//   - The clock starts in the year 2000 and jumps: time.Sleep is not a wait for something, it is how long the others have had.
package simtest
