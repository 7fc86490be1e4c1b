// Package graph has the polytopes of a graph, with one coordinate for each edge: flows from a source to a sink,
// spanning trees and forests. It has the shortest paths, the greedy algorithm and the tangent spaces that they need.
//
// Package convex lists diameters, norms and starting points.
package graph
