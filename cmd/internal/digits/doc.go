// Package digits writes numbers for people: values with three or four significant digits, bounds rounded up, and counts
// with their nouns. Tables, pages, slides and logs use it. It draws nothing, so that a service can show numbers without
// code for plots.
package digits
