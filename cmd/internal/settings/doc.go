// Package settings turns the ORIEL_* environment into checked settings, and settings into the arguments of the
// packages.
//
// The settings of every operator are fields of Settings. The settings of the chosen operator are rows of its
// operators.Definition (cmd/internal/registry). All problems are reported together, each with its variable. A variable
// of a feature that this version lacks, a setting of another operator, and a name that does not exist are errors,
// because a misspelt privacy setting must never be ignored. Every command refuses an invalid value of any setting
// (values.go). A command requires only the groups that it uses (Need), and checks how their settings fit together. The
// tables in deploy/SETTINGS.md and in the help of `oriel run` are made from the struct tags of Settings and the rows of
// the definitions.
//
// To add a setting of every operator, add a field of Settings with its tags, its check in values.go, and, if it decides
// bytes, its line in canonical.go. The line must be written only if the setting is set, so that existing deployments
// keep their text. To add a setting of one operator, add a row to the operator's Definition. Then `go test
// ./cmd/internal/settings -rewrite` writes the table of deploy/SETTINGS.md.
//
// Canonical returns the configuration text whose hash identifies a deployment. It must contain everything that decides
// bytes, and nothing else.
package settings
