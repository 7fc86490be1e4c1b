// Package ball has the balls of norms as feasible sets: ℓ2, ℓ1, boxes and the trace norm. The simplex and the
// spectrahedron are here too, because they are faces of two of these balls and share their projections.
//
// Package convex lists diameters, norms and starting points.
package ball
