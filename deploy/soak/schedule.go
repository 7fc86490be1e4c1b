//go:build soak

package main

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// kind is a kind of fault.
type kind string

const (
	kill         kind = "kill"           // SIGKILL of a process
	killReadable kind = "kill readable"  // … when a record of an open transaction has become readable
	killEnding   kind = "kill ending"    // … when the end of a transaction has been asked for
	killAll      kind = "kill all"       // … of all processes at once
	zombie       kind = "zombie"         // SIGSTOP for longer than the session, SIGCONT
	pause        kind = "pause"          // … for less
	terminate    kind = "terminate"      // SIGTERM
	leave        kind = "leave and join" // … and away for a while
	fullDisk     kind = "full disk"      // no room where the local store is
	brokerKill   kind = "broker kill"
	brokerEnding kind = "broker kill ending" // SIGKILL between the end of a transaction and its markers
	brokerStop   kind = "broker stop"        // SIGTERM, and away for a while
	staleLeader  kind = "stale leader"       // SIGSTOP until another one leads, SIGCONT
	delay        kind = "delay"
	silence      kind = "silence" // connections stay open, and nothing arrives
	answersLost  kind = "answers lost"
	refuse       kind = "refuse"
	reset        kind = "reset"
	grow         kind = "partitions added" // to the input
	trim         kind = "order trimmed"    // behind the state, together with the input
)

// role is the part that a process plays: it owns a stream, stands by, or writes dead letters.
type role string

const (
	works      role = "" // it has a stream, or may have one
	standsBy   role = "standing by"
	hasLetters role = "letters" // it is `oriel letters`
)

// damage is the way in which a state directory is damaged while its process is down.
type damage string

const (
	same    damage = "same"
	deleted damage = "deleted"
	older   damage = "older copy"
	flipped damage = "bits flipped"
	cut     damage = "file cut"
)

// fault is one fault of the schedule. Every field is drawn for every fault, so that a change to one kind does not
// change the faults after it.
type fault struct {
	kind    kind
	victim  int           // process, modulo those that there are; of a whole topic, the owner half of the time
	role    role          // of the victim, when the fault begins
	broker  int           // broker, modulo those that there are
	damage  damage        // of the state directory
	hold    time.Duration // how long it lasts
	down    time.Duration // from a kill to the new start
	all     bool          // network: of all processes
	half    bool          // network: of every second connection
	late    bool          // network: what was held arrives at the end
	topic   int           // stale leader: of which topic
	settles bool          // the next fault waits until the service has recovered
	gap     time.Duration // before the next fault
}

type weight struct {
	kind  kind
	share int
}

// These are the shares of the kinds of faults. With one broker most faults are of processes, and with three most are of
// brokers.
var (
	ofProcesses = []weight{
		{kill, 6}, {killReadable, 10}, {killEnding, 6}, {killAll, 5}, {zombie, 7}, {pause, 3}, {terminate, 6}, {leave, 6},
	}
	ofDisks    = []weight{{fullDisk, 2}}
	ofNetworks = []weight{{delay, 2}, {silence, 3}, {answersLost, 3}, {refuse, 2}, {reset, 3}}
	ofOne      = []weight{{brokerKill, 3}, {brokerEnding, 7}, {brokerStop, 3}}
	ofThree    = []weight{{brokerKill, 7}, {brokerEnding, 5}, {brokerStop, 6}, {staleLeader, 18}}
	ofTopics   = []weight{{grow, 4}, {trim, 5}}
)

// holds has the shortest and the longest duration of each kind.
var holds = map[kind][2]time.Duration{
	zombie: {7 * time.Second, 12 * time.Second}, pause: {200 * time.Millisecond, 3 * time.Second},
	leave: {time.Second, 6 * time.Second}, fullDisk: {8 * time.Second, 15 * time.Second},
	brokerKill: {0, 4 * time.Second}, brokerEnding: {0, 2 * time.Second}, brokerStop: {time.Second, 12 * time.Second},
	staleLeader: {0, 6 * time.Second}, // after another one leads
	delay:       {2 * time.Second, 8 * time.Second}, silence: {2 * time.Second, 12 * time.Second},
	answersLost: {time.Second, 10 * time.Second}, refuse: {time.Second, 10 * time.Second},
}

// schedule yields the faults of a seed, without end.
type schedule struct {
	random *rand.Rand
	kinds  []kind // each as often as its share
}

func newSchedule(seed uint64, weights ...[]weight) *schedule {
	s := &schedule{random: rand.New(rand.NewPCG(seed, 1))}
	for _, list := range weights {
		for _, w := range list {
			for range w.share {
				s.kinds = append(s.kinds, w.kind)
			}
		}
	}
	return s
}

func (s *schedule) next() fault {
	r := s.random
	f := fault{
		kind: s.kinds[r.IntN(len(s.kinds))], victim: r.IntN(1 << 16), broker: r.IntN(1 << 16),
		damage: []damage{same, same, deleted, older, flipped, cut}[r.IntN(6)],
		all:    r.IntN(3) == 0, half: r.IntN(3) == 0, late: r.IntN(2) == 0, topic: r.IntN(1 << 16), settles: r.IntN(4) != 0,
	}
	between := func(low, high time.Duration) time.Duration { return low + time.Duration(r.Float64()*float64(high-low)) }
	f.hold = between(holds[f.kind][0], holds[f.kind][1])
	f.down = between(0, time.Second)
	f.gap = between(0, 2*time.Second)
	return f
}

// row returns the row of the report in which a fault is counted.
func (f fault) row() string {
	if f.role == works {
		return string(f.kind)
	}
	return fmt.Sprintf("%s, %s", f.kind, f.role)
}

// ofProcess reports whether a fault concerns a single process. ofNetwork reports whether it may concern a single one.
func ofProcess(k kind) bool {
	switch k {
	case kill, killReadable, killEnding, zombie, pause, terminate, leave:
		return true
	default:
		return false
	}
}

func ofNetwork(k kind) bool {
	switch k {
	case delay, silence, answersLost, refuse, reset:
		return true
	default:
		return false
	}
}

// describe returns a fault as text; on names its victim.
func (f fault) describe(on string) string {
	text := fmt.Sprintf("%s of %s", f.kind, on)
	switch f.kind {
	case kill, killReadable, killEnding, killAll, terminate, leave:
		text += ", state directory " + string(f.damage)
	case silence, answersLost:
		text += map[bool]string{true: ", delivered late", false: ", never delivered"}[f.late]
	default:
	}
	if f.half {
		switch f.kind {
		case delay, silence, answersLost, reset:
			text += ", every second connection"
		default:
		}
	}
	if f.hold > 0 {
		text += fmt.Sprintf(", for %.1f s", f.hold.Seconds())
	}
	return text
}
