// Package simtest runs processes, a broker and the network between them in one test, with a simulated clock.
//
// Deployment is a whole service within a test, in a bubble of testing/synctest: the embedded broker, pipes for
// connections, memory for disks, and a clock that advances when all goroutines wait.
//
//	synctest.Test(t, func(t *testing.T) {
//		d, setup := New(t), pipetest.NewSetup()
//		err := setup.Prepare(t.Context(), d.Client(), 2)               // topics and manifests
//		a := d.Start("a", NewDisk(), setup.Run)               // a process
//		d.Fail(Fault{Kind: kind, Skip: 2, Effect: Lost})
//		a.KillAt(notice.PointProduced, 3)                            // it dies at this point; its disk keeps its contents
//		a.KillAtRequest(17, true)                                      // or at this request: the broker does it, the answer is lost
//		time.Sleep(time.Minute)                                        // takes only computing time
//		b := d.Start("b", a.Disk(), setup.Run)                         // the same machine, started again
//		trace := d.Requests()                                          // all requests of all members, with their times
//	})
//
// Two runs with the same input and the same script give the same trace, to the nanosecond. This needs the following:
//   - Each message has its own latency (latency), so that two goroutines hardly ever run at the same moment and the
//     scheduler decides nothing. An order of requests (order) hides the rest. With Options.Seed the latency is drawn
//     for each request, so that each seed gives another order of events.
//   - Requests that still coincide arrive in the order of a digest of their contents. Faults count them as they arrive,
//     and equal requests get the same effect. The syncs of a generation reach the broker together (order.go).
//   - Pauses have no jitter (kafka.Config.Jitter). The jitter of kafka-go is seeded by the clock, which is the
//     bubble's.
//   - ApiVersions is not recorded and takes no time. kafka-go sends it on a new connection, and whether it needs one
//     depends on which of two goroutines comes first.
//   - Nonces, keys, ids of topics, members and incarnations are random, but of fixed length. Compare sizes; or let each
//     run continue from a copy of one data directory (NewIn), which holds the same topics and secrets.
//
// Rules for tests:
//   - All goroutines must leave a bubble, and its clock stops with the test's own goroutine. New registers a clean-up
//     that kills the members, closes the broker and sleeps until all other sleeps have ended. Goroutines that a test
//     starts itself must end first.
//   - A goroutine that waits for the network, a file or another bubble stops the clock. No code here may use a socket;
//     reading a file does not wait.
//   - Values with channels or timers must not cross bubbles: no client, store or HTTP transport in a package variable.
//     The pools of kafka-go, Pebble and net/http hold none.
//   - The clock starts in the year 2000 and jumps. time.Sleep does not wait for a condition: it sets how long the other
//     goroutines may run.
package simtest
