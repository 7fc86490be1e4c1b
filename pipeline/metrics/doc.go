// Package metrics exports the work of a pipeline as Prometheus metrics.
//
// Every value must be a function of public facts: the numbers of records, steps, decisions and transactions, how long a
// commit took, how far away the end of the input is. There is no count of invalid or clipped events, none of bytes, and
// no Go or process collector, because those depend on the contents of events and would be a release without a
// mechanism. Two inputs with equal counts give equal metrics under an equal clock. Decisions are shown on request only,
// and only committed ones, which are published anyway.
package metrics
