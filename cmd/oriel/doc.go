// Command oriel turns Kafka streams of sensitive events into public decisions under window differential privacy.
//
// Settings come from ORIEL_* variables (package cmd/internal/settings), one file here a command. See the README.
package main
