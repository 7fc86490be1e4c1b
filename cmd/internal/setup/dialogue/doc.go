// Package dialogue asks a user what `oriel init` must know, and writes the settings of a deployment.
//
// It goes in five steps: find the topic, look at a sample, choose what is learned, tune memory and privacy, write the
// files. Each question has a field of Options, which is a flag of the command. Without a person at the terminal, flags
// and proposals answer.
package dialogue
