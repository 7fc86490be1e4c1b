// Command oriel turns Kafka streams of sensitive events into public decisions under window differential privacy.
//
// Settings come from ORIEL_* variables (package cmd/internal/settings). Each command has a file here. See the README.
package main
