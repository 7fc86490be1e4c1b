// Package dialogue asks a user the questions of `oriel init`, and writes the settings of a deployment.
//
// The dialogue has five steps: find the topic, read a sample, choose what to learn, tune memory and privacy, write the
// files. Each question has a field of Options, which is a flag of the command. Without a person at the terminal, flags
// and proposals answer.
package dialogue
