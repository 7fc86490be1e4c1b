// Package console serves the HTTP pages of a running service: /metrics, /healthz and /readyz. They are read-only.
//
// /healthz answers 200 while the process lives. /readyz answers 200 when every partition that the process owns is
// running, and 503 with a line for each partition that is not. A process without partitions is ready. If it stands by,
// it is ready once its local store is warm, so that a rolling update ends the owner when another process can take over
// at once. A request to the brokers that had to be sent again makes /readyz answer 503 for five seconds. A full disk
// and foreign members of the group make it answer 503 while they last. For readers of decisions /readyz has no lines,
// and only partitions and the group keep it from being ready, because nothing else is independent of records.
package console
