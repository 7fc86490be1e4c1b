// Package oracle has the local linear oracles that work for many sets: by weights of numbered vertices, by taking 0/1
// vertices from a point, and by following a linear oracle. Search moves an oracle by exact steps along segments.
//
// The file operators/coco/SPEC.md §7 has the contract and the constants.
package oracle
