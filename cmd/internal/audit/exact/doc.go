// Package exact checks a machine without statistics, so that one run shows a fault if there is one.
//
//	restart            a machine that is serialised and restored at any point gives the same bytes as one that is not
//	decisions          other events over the same releases and draws give the same decisions
//	draws, exchange    draws follow the exponential mechanism, and an exchange moves scores as far as is accounted
//	distances          no two contributions that a quantiser makes are farther apart than it claims
//	contribution sums  a step adds its contributions to the private sums, and nothing more
//	far draws, reset   draws of any size reach the release; nothing passes the reset of a memory
package exact
