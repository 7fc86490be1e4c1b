// Package rates relates steps to time. It says how long windows and memories last in one stream of a topic, and in a
// stream of each partition. It also says how fast the order log grows, and how many events a second one stream can
// process.
package rates
