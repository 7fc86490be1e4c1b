//go:build soak

package soak

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// kind is a kind of fault.
type kind string

const (
	kill         kind = "kill"           // SIGKILL of a process
	killReadable kind = "kill readable"  // SIGKILL when a record of an open transaction has become readable
	killEnding   kind = "kill ending"    // SIGKILL when the process has asked for the end of a transaction
	killAll      kind = "kill all"       // SIGKILL of all processes at once
	zombie       kind = "zombie"         // SIGSTOP for longer than the session, then SIGCONT
	pause        kind = "pause"          // SIGSTOP for less than the session, then SIGCONT
	terminate    kind = "terminate"      // SIGTERM, and a new start at once
	leave        kind = "leave and join" // SIGTERM, and a new start after a while
	fullDisk     kind = "full disk"      // the disk of the local store has no room
	brokerKill   kind = "broker kill"
	brokerEnding kind = "broker kill ending" // SIGKILL between the end of a transaction and its markers
	brokerStop   kind = "broker stop"        // SIGTERM, and a new start after a while
	staleLeader  kind = "stale leader"       // SIGSTOP until another broker leads, then SIGCONT
	delay        kind = "delay"
	silence      kind = "silence" // connections stay open, and no frame arrives
	answersLost  kind = "answers lost"
	refuse       kind = "refuse"
	reset        kind = "reset"
	grow         kind = "partitions added" // partitions are added to the input
	trim         kind = "order trimmed"    // input and order log are deleted up to the state
)

// role is the duty of a process: it owns a stream, stands by, or writes dead letters.
type role string

const (
	works      role = "" // the process has a stream or may get one
	standsBy   role = "standing by"
	hasLetters role = "letters" // the process runs `oriel letters`
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
	victim  int           // process, modulo their number; with --stream topic, in half of the faults the owner
	role    role          // role of the victim when the fault begins
	broker  int           // broker, modulo the number of brokers
	damage  damage        // damage to the state directory
	hold    time.Duration // duration of the fault
	down    time.Duration // time from a kill to the new start
	all     bool          // network: the fault concerns all processes
	half    bool          // network: the fault concerns every second connection
	late    bool          // network: delayed frames arrive at the end
	topic   int           // stale leader: number of the topic whose leader is frozen
	settles bool          // the next fault waits until the service has recovered
	gap     time.Duration // pause before the next fault
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
	staleLeader: {0, 6 * time.Second}, // counted from the moment when another broker leads
	delay:       {2 * time.Second, 8 * time.Second}, silence: {2 * time.Second, 12 * time.Second},
	answersLost: {time.Second, 10 * time.Second}, refuse: {time.Second, 10 * time.Second},
}

// schedule yields the faults of a seed, without end.
type schedule struct {
	random *rand.Rand
	kinds  []kind // every kind appears as often as its share requires
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

// describe returns a fault as text; on is the name of its victim.
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

func draw(seed uint64, n int, weights ...[]weight) []fault {
	s := newSchedule(seed, weights...)
	faults := make([]fault, n)
	for i := range faults {
		faults[i] = s.next()
	}
	return faults
}

func TestASeedIsASchedule(t *testing.T) {
	all := [][]weight{ofProcesses, ofDisks, ofNetworks, ofThree}
	if !slices.Equal(draw(7, 500, all...), draw(7, 500, all...)) {
		t.Error("one seed gives two schedules")
	}
	if slices.Equal(draw(7, 500, all...), draw(8, 500, all...)) {
		t.Error("two seeds give one schedule")
	}
}

func TestEveryKindAndDamageIsDrawn(t *testing.T) {
	kinds, damages := map[kind]int{}, map[damage]int{}
	for _, f := range draw(1, 1000, ofProcesses, ofDisks, ofNetworks, ofOne, ofThree, ofTopics) {
		kinds[f.kind]++
		damages[f.damage]++
		if limits := holds[f.kind]; f.hold < limits[0] || f.hold > limits[1] {
			t.Errorf("%s for %v, outside %v", f.kind, f.hold, limits)
		}
	}
	for _, list := range [][]weight{ofProcesses, ofDisks, ofNetworks, ofOne, ofThree, ofTopics} {
		for _, w := range list {
			if kinds[w.kind] == 0 {
				t.Errorf("%s is never drawn", w.kind)
			}
		}
	}
	for _, d := range []damage{same, deleted, older, flipped, cut} {
		if damages[d] == 0 {
			t.Errorf("%s is never drawn", d)
		}
	}
}
