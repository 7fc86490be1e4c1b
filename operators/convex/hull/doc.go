// Package hull has the convex hull of listed points as a feasible set, the space that the points span, and a ball that
// lies in the hull.
package hull
