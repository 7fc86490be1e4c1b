// Package mechanisms is the only door from private gradients to public sums.
//
//	L  clip, loss units      q, Λ  lattice unit and norm bound of a contribution in units (mechanisms/lattice)      n  dimension
//	W  window, steps         B  events a step        h = log₂W + 1        s  noise scale of a node, units     σ = qs, θ = qs
//	Δ  ℓ2 distance of two neighbouring contribution sums in units: 2Λ under replace, Λ under zero-out; what a Quantiser says, 2ρ of a Ball
//
// A record adds a contribution.Contribution of one or more components, each a private sum of its own on the one chain.
// contribution.OneComponent(n, L) is the one that the table below is of: a vector clipped to L. Other components have a
// Quantiser, which makes integers and knows how far apart they can be.
//
// A Config is what a user asks for. Calibrate turns it into a Calibration: the integers that decide bytes, noise
// rounded up, computed once at the opening of a stream and stored. Calibration.Guarantee computes from those integers
// alone what they prove, and refuses a plan that proves less than was asked. Open makes a Stream of both: release and
// guarantee are one value.
//
// A Stream takes one record at a time: quantise, absorb into the chain, add to the batch; the B-th record closes a
// step, and the private prefix sum after it (of a once- name, its own sum) is public. Whatever is computed from sums is
// post-processing and cannot lose privacy.
//
//	name                  noise of a node                        one window
//	tree-gaussian         σ = Δ√h/µ, µ from (ε,δ) exactly        µ-GDP, (ε,δ)
//	tree-gamma            θ = Δh/ε                               ε
//	tree-laplace          √n·Δh/ε a coordinate                   ε
//	blt                   σ of the step noise: blt/PROOF.md      µ-GDP, (ε,δ), nearly optimal
//	  under a Decay       the same of decay/PROOF.md            µ-GDP, (ε,δ), for ever; sums decay by 1 − 1/H a step
//	tree-gaussian-paper   Config.Printed                         recomputed
//	tree-gamma-paper      Config.Printed                         recomputed
//	once-gaussian         σ = Δ/µ of single steps, no sums       µ-GDP, (ε,δ), for ever
//	once-gamma            θ = Δ/ε of single steps, no sums       ε, for ever
//	draws                 elements drawn by e^(sum/β), no sums   (ε,δ) by ρ, or ε, for the life of a stream that ends
//
// Config embeds protection.Terms: a Scope, for how long, and a Unit, who is protected. A name takes the scopes of its
// row: the trees and blt a Window or a Lifetime, blt a Decay too, the once- names PerStep, and draws a Lifetime.
//
// Of a protection.User the budget is that of all of a user's events in a window, exchanged at once. With separation s
// these are k = ⌈W/s⌉ at most: Δ√h becomes Δ√(Σ_l k·⌈2^l/s⌉) over the levels l, Δh becomes kΔh, and Δ is that of an
// exchange. Under a Decay the budget is that of all events of a user among any User.Steps steps, for ever after. Under
// a Lifetime the stream ends within its first window, and the budget is one for its whole life. PROOF.md has both.
//
// The -paper names reproduce what papers print, and no service has them: their noise scale is Config.Printed, and their
// Guarantee, recomputed from the sensitivity of a contribution, may be worse than the budget. Proofs of the components:
// windowtree, blt, perstep and lattice.
//
// What the caller owes: each vector is a function of its own event, of released sums and of public data, never of other
// events; a record is added once in one history (its identity is in the chain); a state is sealed and never shown. At
// user level, that accepted events of one user are as far apart as configured.
//
// Many streams of one configuration and plan have a Mechanism, which checks and computes once what they share: a
// further stream takes microseconds and its own numbers. Draws (Stream.Choose) and tags (Stream.Tag) come from the
// chain as noise does.
//
//	calibration, err := mechanisms.Calibrate(config)
//	mechanism, err := mechanisms.NewMechanism(config, calibration)
//	stream := mechanism.Open(key)
//	if stream.Add(identity, vector) {
//		decide(stream.Sum(0))
//	}
package mechanisms
