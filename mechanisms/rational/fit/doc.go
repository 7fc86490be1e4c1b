// Package fit finds real poles and zeros of the filters of mechanisms/blt and mechanisms/decay. Its figures differ
// between platforms in their last bits: the caller rounds them to dyadics once, stores those, and derives every claim
// from the dyadics alone.
package fit
