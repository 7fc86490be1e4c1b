// Command oriel turns Kafka streams of sensitive events into public decisions under window differential privacy.
//
// Settings come from ORIEL_* variables (package cmd/internal/settings). A file has commands that belong together, with
// their help and flags. A command is one call of a package below cmd/internal, which does the work. init.go begins a
// deployment, run.go runs and checks it, and the others are named after their main command. See the README.
package main
