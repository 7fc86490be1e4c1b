// Package choice has the polytopes whose vertices choose or order items: subsets of a given size or of at most this
// size, products of them (partitions), rankings, and matchings of rows to columns.
//
// Package convex lists diameters, norms and starting points.
package choice
