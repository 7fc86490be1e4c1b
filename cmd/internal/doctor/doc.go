// Package doctor examines a deployment before it runs, and one that does not: settings, key, brokers, rights, topics,
// what was frozen, registry, the newest record, clock and disk. It looks and changes nothing: it creates no topic,
// writes no record, joins no group, and begins no transaction.
//
// Each check prints a line. Where `oriel run` makes the same check, doctor calls the same function.
package doctor
