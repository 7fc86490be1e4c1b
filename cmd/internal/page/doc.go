// Package page serves the web page at / of `oriel run`. It shows the guarantees of the deployment, its health, the
// newest decision of each stream with its history, and epsilon by age in hours and days.
//
// The page is HTML, CSS and JavaScript written by hand, with uPlot 1.6.32 for charts (MIT, assets/uplot.LICENSE). The
// binary contains all of it; the page needs no build step, and loads nothing from other hosts. The browser gets its
// data as server-sent events: about and past once, then a frame a second. The history of a single number is sent on
// request.
//
// Everything on the page is public: settings, the calls of a notice.Listener, and published decisions. Its handlers
// accept only GET and HEAD. The process keeps the history in memory, from its start, for an hour at most.
package page
