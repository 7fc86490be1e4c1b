// Package dimension divides a column of events into public places: a list of texts, or bins of equal width over a
// range.
// The places of several columns are the cells of an aggregate.
package dimension
