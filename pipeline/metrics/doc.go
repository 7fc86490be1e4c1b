// Package metrics exports what a pipeline does as Prometheus metrics.
//
// Every value is a function of public facts: how many records, steps, decisions and transactions there were, how long a
// commit took, how far the input's end is. There is no count of invalid or clipped events, none of bytes, and no Go or
// process collector: those depend on what the events say, and would be a release without a mechanism. Two inputs with
// equal counts give equal metrics under an equal clock. Decisions, if they are shown at all, are those that were
// committed: what is published anyway.
package metrics
