// Package statistics computes how exact the numbers of decisions are: the 95 % interval of a count, a sum or a ratio,
// where the noise of privacy is the only error. It also says after how many events an experiment finds an effect. A
// Target is the error that a user asks for.
package statistics
