// Package sample reads a sample of a topic's records, from the topic or from a file. It detects how records are
// encoded, finds the places of values in them, and estimates from their times how many events arrive in a second. Where
// a file or a topic has records that Oriel cannot read, errors name the form of these records and the remedy.
package sample
