// Package subject opens the machine that an audit examines, and plays its runs. A Subject knows its operator only as an
// operators.ReferenceModel: from the model it computes the contribution that each record should add, with clip and
// rounding of its own. A Player feeds records to the machine and to the model; a Sender sends the records of a canary
// so that their contributions are added at the attacked steps.
package subject
