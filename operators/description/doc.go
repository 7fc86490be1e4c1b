// Package description has the figures that an operator gives `oriel plan` before any event is read: distances, noise and
// accuracy of its decisions. They are for people, and no decision depends on them.
package description
