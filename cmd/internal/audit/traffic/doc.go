// Package traffic plays runs with background events of all kinds: far beyond the clip, near it, far below it, of weight
// 0, or null. The contributions of these events are known. Keys and times of records are public, so they are the same
// in runs of the same number that have different purposes, while the contents of events differ.
package traffic
