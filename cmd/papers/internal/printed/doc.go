// Package printed has the operators of the module with constants as papers print them, for comparison with the
// constants that are proved in this module. Some printed constants prove less than their papers claim, and others add
// many times too much noise. No service may use them, and no package outside cmd/papers can import this package.
//
//	L  clip      µ  strong convexity      D, n  diameter and dimension of the set      W  window      h = log₂W + 1
//	G = L' + µD, L' = L + µ·max|x|        ρ  distance factor of the local linear oracle
//
// [WDP] is the paper that introduces window differential privacy for online convex optimisation (see
// operators/coco/SPEC.md).
package printed
