// Package convex holds the feasible sets of decisions, and the oracles by which algorithms keep a decision in its set.
//
//		n  dimension    R  radius    s  scale of the simplex    D  diameter    c  a linear cost
//
//		set       points                  D       max|x|   start      projection          local oracle: κ, ρ
//		l2-ball   |x|₂ ≤ R                2R      R        0          scale               none: not a polytope
//		l1-ball   |x|₁ ≤ R                2R      R        0          sort and threshold  √n/R, 2√n
//		simplex   x ≥ 0, Σx = s, n ≥ 2    √2·s    s        uniform    sort and threshold  √n/(2s), √(n/2)
//		box       |x_i| ≤ R               2R√n    R√n      0          clip                direct, √n
//		          or low_i ≤ x_i ≤ high_i of its corners   middle     clip                direct, √n
//		subsets   0 ≤ x ≤ R, Σx = kR      R√(2k)  R√k      uniform    bisect              direct, √n
//		partition subsets of each block   R√Σ2k'  R√Σk     uniform    bisect              direct, √n
//		flow      s–t flows of amount R   R√(2ℓ)  R√ℓ      even       none that is cheap  √n/R, √(2nℓ)
//		matching  k×k, lines sum to R     R√(2k)  R√k      uniform    none that is cheap  k/R, k√(2k)
//		ranking   mixes of orders of R·w  R|w−w̄|  R|w|     uniform    sort and pool       none: all of x may move
//		trees     spanning trees times R  R√(2k') R√k      even-ish   none that is cheap  none                all of x may move
//		spectrahedron  X ⪰ 0, tr X = R    R√2     R        R/m·I      eigenvalues         none: not a polytope
//		trace-norm     singular values ≤ R  2R    R        0          none that is cheap  none: not a polytope
//		subsets-at-most    0 ≤ x ≤ R, Σx ≤ kR   R√k'  R√k  0      bisect              none                all of x may move
//		partition-at-most  those of each block  R√Σk' R√Σk 0      bisect              none                all of x may move
//		forests   of a graph, times R R√k'    R√k      0          none that is cheap  none                all of x may move
//		vertices  hull of a list          of all  of all  mean       none                all of x may move
//
//	 w̄ is w in reverse;
//	 k' = min(k, n−k) for subsets, and in each block of a partition; k' = min(2k, n) for sets of at most k;
//	 for trees and forests D is an upper bound, with the k edges of the largest one;
//	 for a flow ℓ is the number of edges of the longest path, n the number of all edges, and D is at most R√n
//
// With a linear cost of each coordinate decisions approach the cheapest vertex. A vertex is a path (flow), an
// assignment of rows to columns (matching), k of d items (subsets), a fixed number of each block (partition), a
// spanning tree (trees), an order of items (ranking) or a listed point (vertices). In three sets the vertex contains
// only items of negative cost: at most k (subsets-at-most), at most a number of each block (partition-at-most), or
// edges without a cycle (forests). Decisions of spectrahedron and trace-norm are matrices.
//
//   - Projection: the nearest point of the set.
//   - LinearOracle: a vertex that minimises ⟨c, ·⟩.
//   - Tangent: the directions in which the set extends, and the projection on them.
//   - LocalOracle, for polytopes: p with ⟨p, c⟩ ≤ ⟨y, c⟩ for all y of the set with |x−y| ≤ r, and |x−p| ≤ ρ·r. It owns
//     the point x that it moves, because the general form needs x as a mix of vertices.
//
// This room has the interfaces and the functions that algorithms call. The sets themselves are in rooms below:
//
//	catalogue  the list of sets, and the settings that describe one
//	ball       balls of norms, boxes, the simplex and the spectrahedron
//	choice     subsets, partitions, rankings and matchings
//	graph      flows, trees and forests
//	hull       convex hulls of listed points
//	oracle     the general local oracles, and what they share
//	shape      properties, vectors and tangent spaces that sets share
//
// A new set embeds shape.Shape, has the methods that its kind allows (oracles.go lists them), and a row in
// catalogue/kinds.go.
//
// A Set is a value and may be shared. A Projection, LocalOracle or Tangent owns scratch space: each machine must have
// its own.
//
// Everything here decides published bytes. Sums have a fixed order, ties go to the lowest index, products are rounded
// before they are added, and package math is used only for Sqrt, Abs and similar exact functions. Points stay feasible
// to a few ulp for ever, because sums are renormalised after each move in the same way.
//
// References: operators/coco/SPEC.md §7 and §8; Garber and Hazan, "A linearly convergent variant of the conditional
// gradient algorithm" (2013), for the local oracle; Duchi and others, ICML 2008, for the projection on simplex and ℓ1
// ball.
package convex
