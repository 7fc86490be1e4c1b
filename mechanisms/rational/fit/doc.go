// Package fit finds real poles and zeros of the filters of mechanisms/blt and mechanisms/decay. Its figures differ
// between platforms in their last bits. So the caller must round poles and residues to dyadics once, store the dyadics,
// and derive every claim only from them.
package fit
