// Package probe asks brokers what a client may do, where they are and what time it is. No request of this package
// changes anything: none creates a topic, joins a group, or begins a transaction. Each is sent once, without retries.
package probe
