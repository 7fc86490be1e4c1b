// Package doctor examines a deployment before it runs, or one that fails to run: settings, key, brokers, rights,
// topics, frozen state, the order log, registry, the newest record, retention, group, clocks, disk, and the place of
// each stream. It changes nothing: it creates no topic, writes no record, joins no group, and begins no transaction.
//
// Each check prints a line. If `oriel run` makes the same check, doctor calls the same function. refusals_test.go reads
// every reason of the service to stop in the source, and says which check finds it, or why none can.
package doctor
