// Package mechanisms turns private gradients into public sums. No other package may do so.
//
//	L  clip, loss units      q, Λ  lattice unit and norm bound of a contribution in units (mechanisms/lattice)      n  dimension
//	W  window, steps         B  events a step        h = log₂W + 1        s  noise scale of a node, units     σ = qs, θ = qs
//	Δ  ℓ2 distance of two neighbouring contribution sums in units: 2Λ under replace, Λ under zero-out; a Quantiser states its own, 2ρ for a Ball
//
// A record adds a contribution.Contribution of one or more components. Each component is a private sum of its own on
// the same chain. The table below is for contribution.OneComponent(n, L): a vector clipped to L. Other components have
// a Quantiser, which makes the integers of a contribution and states their sensitivity.
//
// A Config is the user's request. Calibrate turns it into a Calibration: the integers that decide bytes, with noise
// rounded up, computed once when a stream is opened, and stored. Calibration.Guarantee computes from these integers
// alone the guarantee that they prove, and refuses a calibration that proves less than the request. Open makes a Stream
// of Config and Calibration, so that releases and guarantee belong to one value.
//
// A Stream takes one record at a time: quantise, absorb into the chain, add to the open step. Close ends the step, with
// any number of records. After it the noisy prefix sum is public (for a once- name, the step's own sum). Anything
// computed from sums is post-processing and cannot lose privacy.
//
//	name                  noise of a node                        one window
//	tree-gaussian         σ = Δ√h/µ, µ from (ε,δ) exactly        µ-GDP, (ε,δ)
//	tree-gamma            θ = Δh/ε                               ε
//	tree-laplace          √n·Δh/ε a coordinate                   ε
//	blt                   σ of the step noise: blt/PROOF.md      µ-GDP, (ε,δ), nearly optimal
//	  under a Decay       the same of decay/PROOF.md            µ-GDP, (ε,δ), for ever; sums decay by 1 − 1/H a step
//	once-gaussian         σ = Δ/µ of single steps, no sums       µ-GDP, (ε,δ), for ever
//	once-gamma            θ = Δ/ε of single steps, no sums       ε, for ever
//	once-laplace          s = Δ₁/ε of single steps, no sums      ε, for ever; Δ₁ is the ℓ1 distance
//	draws                 elements drawn by e^(sum/β), no sums   (ε,δ) by ρ, or ε, for the life of a stream that ends
//
// With contribution.OfNames each record carries a name in place of numbers. once-laplace and once-gaussian then count
// the names, with noise for each, and publish a name from a threshold on: see Stream.AddName and names/PROOF.md.
//
// Config embeds protection.Terms: a Scope (for how long) and a Unit (which events are exchanged). The trees accept a
// Window or a Lifetime, blt also a Decay, the once- names PerStep, and draws a Lifetime.
//
// For a protection.User the budget covers all of a user's events in a window, exchanged at once. With separation s
// these are at most k = ⌈W/s⌉: Δ√h becomes Δ√(Σ_l k·⌈2^l/s⌉) over the levels l, Δh becomes kΔh, and Δ is the distance
// under an exchange. Under a Decay the budget covers all events of a user among any User.Steps steps, for ever after.
// Under a Lifetime the stream ends within its first window, so the budget covers its whole life. PROOF.md has both.
//
// Proofs of the components: windowtree, blt, perstep, names and lattice.
//
// Duties of the caller: each vector must be a function of its own event, of released sums and of public data, never of
// other events. A record must be added only once in one history (its identity is in the chain). A state must be sealed
// and never shown. At user level, accepted events of one user must be as far apart as configured.
//
// Many streams with one configuration and calibration share a Mechanism, which does their common checks and
// computations once. Opening another stream then takes microseconds and only the memory of its own numbers. Draws
// (Stream.Choose) and tags (Stream.Tag) come from the chain, as noise does.
//
//	calibration, err := mechanisms.Calibrate(config)
//	mechanism, err := mechanisms.NewMechanism(config, calibration)
//	stream := mechanism.Open(key)
//	stream.Add(identity, vector)
//	stream.Close()
//	decide(stream.Sum(0))
package mechanisms
