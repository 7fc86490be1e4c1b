// Package reproduce runs the tables of the papers as experiments: it measures the rates that a table claims, on public
// streams, with the operators of this module. It is the part of `papers reproduce` that knows no flag.
//
//	experiment  a table: rows (methods) and columns (streams and budgets); All has one a line
//	cell        a row in a column with a numbered seed: a run, whose result is a curve
//	folder      where curves are kept as CSV, a cell at a time, and from them a Markdown table and a plot are made
//
// Streams and noise come from public numbered seeds, so a cell is the same wherever it is run. Its decisions protect no
// one, but streams are synthetic. A cell that the folder has is not run again.
//
// A run plays x_t, is then shown f_t, and pays f_t(x_t). It is measured by its regret to the best fixed point of the
// set in hindsight, found to machine precision. Every row plays the same stream for a seed.
//
// Cost: each experiment states its own. A cell of Table I is 10⁵ steps in ten dimensions, some tenths of a second.
package reproduce
