// Package pipetest holds test tools that check the pipeline against a broker.
//
// A Setup is a deployment for tests: settings, topics and a Blind operator, whose decisions show which records it took.
// Torn and Forgotten reproduce the state that a process or a coordinator leaves behind when it dies. Plant plants a
// fault in the source code. Four packages below this one belong to it:
//
//	contracttest  tests that every broker must pass
//	simtest       processes, a broker and the network between them, in one test with a simulated clock
//	storytest     transcripts of a deployment: commands and their results
//	histories     thousands of histories, each drawn from a seed and judged
package pipetest
