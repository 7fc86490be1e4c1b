// Package fit finds real poles and zeros of the filters of mechanisms/blt and mechanisms/decay. Its figures differ
// between platforms in their last bits. So the caller must round them to dyadics once, store those, and derive every
// claim only from the dyadics.
package fit
