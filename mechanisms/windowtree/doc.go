// Package windowtree releases private prefix sums under window DP from a forest of dyadic trees ([WDP] §3, window tree
// mechanism), in O(n·log W) memory.
//
//	t = kW + p, 1 ≤ p ≤ W    step, block (from 0) and position      v_t  contribution sum of step t, lattice units      n  coordinates
//	W  window, steps, a power of two      h = log₂W + 1  levels of a tree      s  noise scale of a node, lattice units
//
// Each block of W steps has a complete binary tree over its steps. At step t the release is
//
//	G̃_t = Σ_{i≤t} v_i + Σ_{x ∈ active(t)} noise(x)
//
// with active(t) the dyadic prefix of [1, p] in block k and the dyadic suffix of [p+1, W] in block k−1. Together they
// cover the W newest steps, each exactly once, with at most h nodes. Clean sums of nodes are never needed, because a
// step expires when its nodes' noise leaves the sum. Over its life a step lies under exactly h nodes, its ancestors,
// each active for one run of steps.
//
// Guarantee: PROOF.md, with Δ the ℓ2 distance of two neighbouring contribution sums in lattice units. Gaussian noise is
// µ-GDP with µ = Δ√h/s for one window; Loss computes µ for later windows and for all events of a user. Gamma noise is
// Δh/s-DP, and m times that for m windows.
//
// Noise of a node is keyed when the node is activated, by the chain after it has absorbed the step's records, and never
// drawn again. The state is the total, the step and the seeds of active nodes; noise vectors are a cache.
//
// Cost: on average a step activates 2 nodes and retires 2; the first step of a block may retire or activate up to h.
// Add allocates nothing except the cipher's objects. Duty of the caller: v_t must be a sum of contributions that
// lattice checked, and the chain must have absorbed them BEFORE Add.
//
//	tree, err := windowtree.New(1024, grid, n, sampler, 0)
//	chain.Absorb(identity, contribution)
//	chain.Close(tree.Steps()+1)
//	tree.Add(sum, contribution, chain)
//	chain.Drawn()
package windowtree
