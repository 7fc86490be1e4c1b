// Package privacy has the settings of the guarantee: mechanism, ε and δ, the window or memory, the neighbouring
// relation and the user level. Check says which of them do not go together, and Terms returns who is protected, and for
// how long, in the form that mechanisms take. The table of the settings (cmd/internal/settings/rows.go) says how each
// of them is written.
package privacy
