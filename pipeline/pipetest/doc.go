// Package pipetest holds test tools that check the pipeline against a broker.
//
// A Setup is a deployment for tests: settings, topics and a Blind operator, whose decisions show which records it took.
// Torn and Forgotten reproduce the state that a process or a coordinator leaves behind when it dies. Packages below
// this one belong to it:
//
//	contracttest  tests that every broker must pass
//	simtest       processes, a broker and the network between them, in one test with a simulated clock
//	brokertest    a broker, embedded or real, and a client
//	logtest       records in partitions
//	storytest     transcripts of a deployment: commands and their results
//	histories     thousands of histories, each drawn from a seed and judged
package pipetest
