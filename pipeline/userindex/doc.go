// Package userindex finds users with events in two partitions, for deployments with one stream for each partition and
// user-level privacy. Users of this process's partitions are added at once, and users of other partitions at each look
// at their committed states. If a user has events in two partitions, the privacy losses of two streams compose. The
// printed guarantee does not cover this, so the service must stop.
package userindex
