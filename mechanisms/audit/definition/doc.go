// Package definition computes which noise each release contains, only from the definitions of the mechanisms. It
// shares no code with the mechanisms, because the audit compares the two.
//
//	W  window, steps     b, β  the filter of blt and its inverse as power series     q, R  its poles and residues
package definition
