// Package work plays runs on all processors, and passes the results on in the order of the runs. A Job ends after a
// number of runs or at a deadline. The deadline does not depend on results, so that confidence statements stay valid.
package work
