// Package traps lists what is allowed, seldom meant, and would otherwise be silent: settings that promise next to
// nothing, and events that teach next to nothing. Commands for the data's owner print these warnings to standard error.
// They stop nothing.
//
//	Settings	what settings alone show: `oriel config`, `plan`, `eval`, `produce`
//	Overpaid	what the operator's reference model shows beside its sensitivities: `oriel config`, `plan`
//	Unseen		what settings let fear of events that nobody looks at: `oriel config`, `plan`
//	Watch		what events show: `oriel eval`, `produce`
//
// `oriel run` must print none of Watch, because its log is public. An operator adds warnings about its own settings by
// operators.Cautious.
package traps
