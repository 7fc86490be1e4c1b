// Package peers compares the speed of the exact Gaussian sampler with its peers, in one run, so that a machine with
// varying speed does not decide the result. The peers are math/rand/v2's NormFloat64 on ChaCha8, which is fast and not
// exact, and OpenDP's integer Gaussian, which is exact except that its caller rounds the scale. It also measures a
// whole step of blt. And it compares shortest paths, by which llo learns on flows, with the projections that they save,
// by OSQP to 1e-5 from a warm start.
//
//	python3 -m venv venv && venv/bin/pip install -r deploy/peers/requirements.txt
//	go test -tags peers -v -timeout 30m -run TestPeers ./deploy/peers [--python $PWD/venv/bin/python3] [--rounds 200]
//
// Each round measures every line of the table once, for a millisecond or so, alternately forwards and backwards. A
// figure is the fastest time of all rounds, because other programs on the machine can only slow a line down. A ratio is
// the ratio of two such figures. A line over a limit is set up and measured again; it fails if it is over the limit in
// three attempts.
//
// The tests fail in these cases, and if there is no OpenDP or OSQP:
//
//   - a draw of Oriel's takes more than 1.25 times NormFloat64, or more than a 500th of OpenDP's draw;
//   - a step of blt, quantisation included, takes more than 320 times NormFloat64 (3.2 µs where that is 10 ns), or more
//     than 1.1 times as long at W = 2²⁰ as at 2¹⁰;
//   - a step for life, with a memory of 2¹⁰, 2¹⁶ or 2²⁰ steps, takes more than 1.3 times as long as one with a window;
//   - a shortest path among 112 edges takes more than 1.5 µs where NormFloat64 takes 7 ns, or a 100th of a projection;
//   - a shortest path among 3 120 edges takes more than 10 µs, or a 500th of a projection.
package peers
