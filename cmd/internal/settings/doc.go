// Package settings turns the ORIEL_* environment into checked settings, and settings into the arguments of the
// packages.
//
// The settings of every operator are the rows of one table (rows.go), each bound to its field of Settings. The settings
// of the chosen operator are rows of its operators.Definition (cmd/internal/registry). All problems are reported
// together, each with its variable. A setting of another operator and a name that does not exist are errors, because a
// misspelt privacy setting must never be ignored. Every command refuses an invalid value of any setting. A command
// requires only the groups that it uses (Need), and checks how their settings fit together. deploy/SETTINGS.md, `oriel
// config`, the help of `oriel run` and the canonical configuration are made from the rows.
//
// Three groups of settings have rules of their own, in rooms below this package that Settings embeds: connection,
// privacy and records. Besides, values has the rules of single values, and files reads what settings name.
//
// To add a setting of every operator, add its row and its field, which is in one of the rooms or here. If it decides
// bytes, the row has its value in the canonical configuration (row.frozen). To add a setting of one operator, add a row
// to the operator's Definition. Then `go test ./cmd/internal/settings -rewrite` writes the table of deploy/SETTINGS.md.
//
// Canonical returns the configuration text whose hash identifies a deployment. It must contain everything that decides
// bytes, and nothing else.
package settings
