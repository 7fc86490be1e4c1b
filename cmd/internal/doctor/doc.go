// Package doctor examines a deployment before it runs, or one that fails to run: settings, key, brokers, rights,
// topics, frozen state, registry, the newest record, clock and disk. It changes nothing: it creates no topic, writes no
// record, joins no group, and begins no transaction.
//
// Each check prints a line. If `oriel run` makes the same check, doctor calls the same function.
package doctor
