// Package pairs plays the machine, exactly as the settings configure it, on pairs of streams that differ in one unit of
// privacy. Package operators/neighbours records the first run and replays its noise in the second. The two events of a
// pair are at both ends of the clip, of any cell, type or arm, not finite, or absent. At user level all events of a
// user are exchanged. The records of both streams pass the service's own walk.
package pairs
