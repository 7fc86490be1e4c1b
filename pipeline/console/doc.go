// Package console serves the HTTP pages of a running service: /metrics, /healthz and /readyz. They are read-only.
//
// /healthz answers 200 while the process lives. /readyz answers 200 when every partition that the process owns is
// running, and 503 with one line a partition that is not. A process without partitions is ready; where it stands by,
// once its local store is warm, so that whoever replaces processes one by one ends the owner when another can take
// over at once. A request to the brokers that had to be sent again makes it 503 for five seconds; a full disk, and
// members of the group that are not of the deployment, while they last. Both show public facts only.
package console
