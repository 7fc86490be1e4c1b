// Package values has the rules that one value of a setting must meet, whatever the other settings are. Each rule is a
// function that returns an error unless its argument is a good value; the error quotes the value only by Shown. The
// table of the settings (cmd/internal/settings/rows.go) says which setting has which rule.
package values
