// Package metrics exports the work of a pipeline as Prometheus metrics.
//
// Every value must be a function of public facts: the numbers of records, steps, decisions and transactions, how long a
// commit took, the distance to the end of the input. There is no count of invalid or clipped events or of bytes, and no
// Go or process collector, because their values depend on the contents of events and would be a release without a
// mechanism. Two inputs with equal counts give equal metrics under an equal clock. Decisions are shown only on request,
// and only if they are committed and so published anyway.
package metrics
