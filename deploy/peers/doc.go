// Command peers measures the exact Gaussian sampler beside its peers, in one run, so that a machine whose speed swings
// does not decide: math/rand/v2's NormFloat64 on ChaCha8, which is fast and not exact, and OpenDP's integer Gaussian,
// which is exact up to where its caller rounds the scale. Then a whole step of blt; and shortest paths, with which llo
// learns on flows, beside the projections that they save, by OSQP to 1e-5 from a warm start.
//
//	python3 -m venv venv && venv/bin/pip install -r deploy/peers/requirements.txt
//	go run ./deploy/peers [--python venv/bin/python3] [--rounds 200]
//
// Each round measures every line of the table once, for a millisecond or so, in turn forwards and backwards. A figure
// is the fastest time of all rounds, because others on the machine can only slow a line down; a ratio is that of two
// such figures. What is over a limit is made and measured again, and counts when it was over in three attempts.
//
// It fails when a draw of ours takes more than 1.25 times NormFloat64 or more than a 500th of OpenDP's, when a step of
// blt, quantisation included, takes more than 250 times NormFloat64 (2.5 µs where that is 10 ns) or more than 1.1 times
// as long at W = 2²⁰ as at 2¹⁰, when a step for life, with a memory of 2¹⁰, 2¹⁶ or 2²⁰ steps, takes more than 1.3 times
// as long as one with a window; when a shortest path among 112 edges takes more than 1.5 µs where NormFloat64 takes 7
// ns, or a 100th of a projection, or one among 3 120 more than 10 µs or a 500th; and when there is no OpenDP or OSQP to
// ask.
package main
