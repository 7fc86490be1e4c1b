// Package reproduce runs the tables of the papers as experiments: it measures the rates that a table claims, on public
// streams, with the operators of this module. It is the part of `papers reproduce` that knows no flag.
//
//	experiment  a table with a row for each method and a column for each stream and budget; All lists them
//	cell        a row in a column with a numbered seed: a run, whose result is a curve
//	folder      keeps the curves of finished cells as CSV, from which a Markdown table and a plot are made
//
// Streams and noise come from public numbered seeds, so a cell has the same result on every machine. Its decisions
// protect no one, but the streams are synthetic. A cell that the folder already has is not run again.
//
// A run plays x_t, then learns f_t, and pays f_t(x_t). Its regret is measured against the best fixed point of the set
// in hindsight, found to machine precision. For a seed, every row plays the same stream.
//
// Cost: each experiment states its own. A cell of Table I is 10⁵ steps in ten dimensions, some tenths of a second.
package reproduce
