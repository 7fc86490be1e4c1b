// Package pipetest holds what proves the pipeline against a broker.
//
// A Setup is a deployment for tests: settings, topics and a Blind operator, whose decisions say what it was given. Torn
// and Forgotten leave behind what a process or a coordinator leaves that dies. Plant plants a fault in the source.
// Four packages below use them, or are used by them:
//
//	contracttest  what every broker must pass
//	simtest       processes, a broker and the network between them, in one test with a clock of its own
//	storytest     transcripts of a deployment: a command, and what followed
//	histories     thousands of histories, each drawn from a seed and judged
package pipetest
