// Package frontier shows how good the filters of blt can be: their variance beside the optimum and the tree, and the
// compromises between variance and ageing. Print writes both as tables, and Slide draws them.
//
//	W  window, steps     m  poles     µ(A)  the loss of an event at age A     Δ  sensitivity
//	variance  of a coordinate of a release, at equal guarantee of one window, in units of (Δ/µ(W))²
//
// Package mechanisms/blt fits the filters and certifies the figures in directed rounding; they are rounded up. They omit
// η, which depends on clip and dimension and is far below the digits shown.
package frontier
