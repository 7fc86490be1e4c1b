// Package group implements membership in a consumer group: the shares of a topic's partitions, and committed offsets.
//
// Join makes a Member, whose Next waits for a Generation, its share of the partitions. Describe and Others look at a
// group from outside. CommittedPlace reads the offset that produce.Producer.CommitPlace wrote under a Membership: a
// member whose generation is over is refused there.
package group
