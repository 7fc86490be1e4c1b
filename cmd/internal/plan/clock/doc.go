// Package clock says what steps by the clock promise and cost: their boundaries, the loss of a user over several
// periods, the loss in terms of an exchange, the size of the order log, and what an outage costs afterwards.
package clock
