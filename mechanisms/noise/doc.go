// Package noise derives the noise of private sums from the history it protects, and samples it exactly.
//
// Duties of the caller, in order:
//
//  1. Start a Chain at k_0, 256 secret bits bound to one incarnation.
//  2. Absorb every event of a step, with its log identity and every private quantity of it, and then Close the step,
//     BEFORE any noise of the step is drawn. All events of a step have one topic.
//  3. Take a node's Seed after the Close of the step that activates the node, once for each NodeID. Equal histories give
//     equal seeds; a seed is never used for two vectors. Then call Drawn.
//  4. Fill the vector. Nothing else is random: a Sampler is a pure function of its parameters and the seed.
//
// PROOF.md states the resulting guarantee and proves it.
//
// # Chain, format 1
//
// All integers are little-endian, fixed width; each field starts with a tag byte; fields of variable length have a u32
// length.
//
//	domain     0x01  u32 length  bytes ("step", "drawn", "noise", "tag", "choice" or "draw")
//	step       0x02  u64                                          t, from 1
//	topic      0x03  16 bytes UUID                                of the step's events; zeros if there are none
//	partition  0x04  i32 p, u64 number of events, 32 bytes d_p    of one partition
//	node       0x05  u16 instance, u64 block, u8 level, u64 index
//	name       0x06  u32 length  bytes
//	choice     0x07  u16 instance, 2 × u64 ε, 2 × u64 sensitivity (numerator, denominator), u32 count, count × i64 scores
//
// Absorb hashes the events of each partition by themselves. d_p is 32 bytes of zeros before the first event of a step:
//
//	d_p     ← SHA-256(d_p ‖ i64 offset ‖ i32 leader epoch ‖ u32 length ‖ length × i64)
//
// The integers are all of a contribution, or place and value of the nonzero ones. A stream that counts names has the
// length bytes of a name in their place. A stream has one of the three forms for life. A record that is no event enters
// no message. In the messages, events stands for topic and then the partitions that have events in the open step, in
// ascending order:
//
//	k       ← HMAC-SHA-256(k, domain "step" ‖ step ‖ events)              end of a step
//	seed(x) = HMAC-SHA-256(k, domain "noise" ‖ node x)
//	k       ← HMAC-SHA-256(k, domain "drawn")                             after the last seed of a step
//	k       ← HMAC-SHA-256(k, domain "choice" ‖ step ‖ choice)            one per draw of a choice; step is the number
//	seed    = HMAC-SHA-256(k, domain "draw"), k the new one               of the last closed step, and "drawn" follows
//	tag(n)  = HMAC-SHA-256(k, domain "tag" ‖ name n ‖ events)             may be published
//
// Events of different partitions commute, so partitions may be read in any order, or side by side. The state of a chain
// has a row for each partition that had a record, also after the step. So the length of a state shows how many
// partitions had a record, null or not, and nothing about events.
//
// # Keystream, format 1
//
// A seed is an AES-256 key. Word i of a vector is bytes 8i … 8i+7, little-endian, of the counter-mode keystream from a
// zero IV (a big-endian counter, whose first byte stays 0). The words that extend word i are
//
//	AES-256(seed, 0x01 ‖ u32 i ‖ u64 p ‖ 00 00 00)  =  extension words 2p and 2p+1
//
// in blocks that the counter never reaches: 32 bytes restore a vector completely, extension included. Extension words
// are made only if a draw needs them.
//
// # Choices
//
// An index is drawn from a finite set by comparing words, in order from word 0, with the digits of rational
// probabilities: choice.go has every comparison.
//
// # Samplers
//
//	u  a number in [0,1), binary digits 0.word extension …, infinitely long      s, θ  scale, an exact dyadic
//	v  the lower-tail half of u: u or 1−u, all digits complemented               x     −F⁻¹(v) ≥ 0
//
// Gaussian and Laplace give round(F⁻¹(u)·s), one word a coordinate; Gamma gives round(θ·χ·z_i) with words 0 … n for χ
// and n+1 … 2n for z. DiscreteLaplace gives n with P(n) ∝ e^(−|n|/s), by inversion too, one word a coordinate. The
// result is defined by the infinite numbers. Three paths compute it, each with a proven bound, and a path that finds a
// rounding boundary within its bound leaves the draw to the next:
//
//	coarse  a polynomial of degree 5 in 64-bit integers, good to 2^-50; in doubt once in 256 draws, from s = 2^40 on more often
//	fine    one of degree 7, good to 2^-60; in doubt once in 10^8 draws at s = 2^29, in 10^5 at 2^40 (Laplace: 2·10^4), in 100 at
//	        the top of the range
//	slow    extends the words and decides in math/big
//
// All compute the same integers on every CPU, so a draw never depends on the path. (Its time does, as a function of the
// seed alone.) Floating point only finds a word's place in the coarse table, where the bound covers its rounding, and
// guesses one integer square root.
//
// Magnitudes round half up; a tie has probability zero. |draw| stays below 2^62: scales are limited to [2^-32, 2^50).
// The fine table ends at 24 octaves, which leaves out one word in 2^23 at any scale. The slow path takes some 70 µs and
// allocates. Otherwise Fill allocates nothing if the processor has AES instructions (amd64, without the build tag
// purego), and two objects of crypto/aes a vector elsewhere.
//
// Cost where math/rand/v2's NormFloat64 on ChaCha8 takes 10 ns: 7 ns a draw, 9 in a vector of 32.
//
// # Files
//
//	chain.go           the ratchet                           keystream.go words_*.go  words and their extension
//	perword.go         samplers by coordinate                gamma.go                 the Gamma sampler, both paths of it
//	discrete.go        discrete Laplace, and its steps       truncated.go             the law that is cut at ±M, for names
//	coarse.go          coarse path                           curve.go                 fine path, and what rounds
//	enclose.go         slow path                             scale.go                 dyadic scales
//	choice.go          exact choices                         testdata                 known answers and the script that makes them
//	internal/tables    tables of coarse and fine path, and the test that makes them
package noise
