// Package clock puts decisions into intervals of the clock, by their times. It follows the times of each stream's
// decisions, because producers set timestamps: it finds times that go back, so that intervals are mixed, and times that
// cannot be right.
package clock
