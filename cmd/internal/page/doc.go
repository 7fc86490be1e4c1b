// Package page serves what a person looks at: / of `oriel run`. It shows what the deployment promises, how it is, the
// newest decision of each stream with its course, and epsilon by age in hours and days.
//
// The page is HTML, CSS and JavaScript written by hand, with uPlot 1.6.32 for charts (MIT, assets/uplot.LICENSE). All
// of it is in the binary, takes no build step, and loads nothing from elsewhere. The browser gets its data as
// server-sent events: about and past once, then a frame a second. The course of one number comes on request.
//
// Everything on it is public: settings, what a notice.Listener hears, and published decisions. Its handlers take GET
// and HEAD alone. History is kept in the memory of the process, from its start, for an hour at most.
package page
