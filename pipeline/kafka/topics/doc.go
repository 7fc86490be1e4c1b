// Package topics describes, creates and changes topics, and finds the ends of their partitions.
//
// Every function retries transient errors until its ctx ends. Answers never come from a cache: they come from the
// cluster, or from the leader with the leader epoch that the client knows (kafka.Client.LeaderEpoch).
package topics
