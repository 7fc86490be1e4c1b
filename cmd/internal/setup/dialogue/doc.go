// Package dialogue asks a user the questions of `oriel init`, and writes the settings of a deployment.
//
// The dialogue has five steps: find the topic, read a sample, choose the use, tune accuracy and privacy, write the
// files. Each question is a row of one table (questions.txt) and has a flag of the command. Without a person at the
// terminal, flags and proposals answer.
package dialogue
