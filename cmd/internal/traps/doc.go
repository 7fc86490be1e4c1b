// Package traps warns about choices that are allowed but usually mistakes, and that would otherwise go unnoticed:
// settings that give almost no privacy, and events from which almost nothing can be learned. Commands for the data's
// owner print these warnings to standard error. Warnings never stop a command.
//
//	Settings	from settings alone: `oriel config`, `plan`, `eval`
//	Overpaid	from the operator's reference model and its sensitivities: `oriel config`, `plan`
//	Unseen		from settings, about events that are not read: `oriel config`, `plan`
//	Watch		from events: `oriel eval`
//
// `oriel run` must print no warning of Watch, because its log is public. An operator adds warnings about its own
// settings by operators.Cautious.
package traps
