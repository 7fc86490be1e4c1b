// Package topics describes, creates and changes topics, and finds the ends of their partitions.
//
// Every function retries transient errors until its ctx ends. A look is never answered from a cache: it goes to the
// cluster, or to the leader under the leader epoch that the client knows (kafka.Client.LeaderEpoch).
package topics
