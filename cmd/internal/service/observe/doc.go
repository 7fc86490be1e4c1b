// Package observe shows what a running service does: log lines of public facts, metrics, and the pages. It also keeps
// the memory limit of the process in step with the partitions that the process has. It changes nothing in the pipeline,
// which tells it everything through a notice.Listener.
package observe
