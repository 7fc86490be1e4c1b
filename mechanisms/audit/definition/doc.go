// Package definition says which noise a release shows, from the definitions of the mechanisms alone: what is audited is
// compared with it, and so none of its code is theirs.
//
//	W  window, steps     b, β  the filter of blt and its inverse as power series     q, R  its poles and residues
package definition
