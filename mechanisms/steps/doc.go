// Package steps says which records are in one step: a fixed number of records, null records included, or those of a
// time.
//
// Neither mechanisms nor machines count records or read a clock: a step ends when their caller closes it. A Count is
// the rule of steps by count, and a Clock that of steps by the clock, for every caller that has them: the walk of a
// service, tests, audits and plans.
package steps
