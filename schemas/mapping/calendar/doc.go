// Package calendar reads times as texts of ISO 8601, and zones as rules of POSIX TZ: what the clocks of a zone show at
// an instant is a function of the texts alone. No table of named zones is asked, because it changes with the software.
package calendar
