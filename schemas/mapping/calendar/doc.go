// Package calendar reads times as texts of ISO 8601, and zones as rules of POSIX TZ. The local time of a zone at an
// instant is a function of these texts. The package uses no table of named zones, because such a table changes with the
// software.
package calendar
