// Package digits writes numbers for people: values with three or four significant digits, bounds rounded up, and counts
// with their nouns. Tables, pages and logs use it.
package digits
