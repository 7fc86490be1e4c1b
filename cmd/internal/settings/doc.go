// Package settings turns the ORIEL_* environment into checked settings, and settings into what the packages take.
//
// Every problem is reported at once and names its variable. A variable of a feature that this version lacks, and a name that
// does not exist, is an error: a misspelt privacy setting must never be ignored. A command requires only the groups that it
// uses (Need). The table in deploy/SETTINGS.md and in the help of `oriel run` is made from the struct tags here.
//
// Canonical gives the configuration text (formats v1) whose hash identifies a deployment: everything that decides bytes,
// and nothing else.
package settings
