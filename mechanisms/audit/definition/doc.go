// Package definition computes which noise each release contains, from the definitions of the mechanisms alone. It
// shares no code with the mechanisms, because the audit compares them with it.
//
//	W  window, steps     b, β  the filter of blt and its inverse as power series     q, R  its poles and residues
package definition
