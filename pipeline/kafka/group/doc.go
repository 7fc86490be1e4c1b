// Package group implements membership in a consumer group: the shares of a topic's partitions, and committed offsets.
//
// Join makes a Member, whose Next waits for a Generation, its share of the partitions. Describe and Others inspect
// groups without joining them. CommittedOffset reads the offset that produce.Producer.CommitOffsets wrote under a
// Membership. Brokers refuse a commit of a member whose generation is over.
package group
