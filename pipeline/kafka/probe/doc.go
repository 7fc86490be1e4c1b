// Package probe asks brokers for a client's rights, for their addresses and for their time. Its requests have no
// effects: none creates a topic, joins a group, or begins a transaction. Each is sent once, without retries.
package probe
