// Package flighttest reads the flights of New York in 2013 from CSV files, for tests over real events: every row of a
// table, flights in the order of their schedule, and the places where they landed.
package flighttest
