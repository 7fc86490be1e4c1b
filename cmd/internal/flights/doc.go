// Package flights turns rows of the New York flights data (2013, US Bureau of Transportation Statistics, CC0) into the
// loss events of the demo and of the tests on real data. An event has 27 dense features of norm 1. Its label says
// whether the arrival was more than 15 minutes late.
package flights
