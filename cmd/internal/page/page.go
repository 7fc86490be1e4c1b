package page

import (
	"maps"
	"slices"
	"sync"
	"time"

	"oriel/cmd/internal/score"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/pipeline/console"
	"oriel/pipeline/notice"
	"oriel/schemas"
)

// About describes the deployment. Operator and Version are shown unchanged.
type About struct {
	Deployment, Version, Operator string
	Guarantee                     protection.Guarantee    // of the settings, until a stream is taken over
	Numbers                       *operators.Numbers      // their names and intervals; nil: decisions have none
	Experiment                    *operators.Experiment   // that decisions are of; nil: of none
	Extras                        []schemas.Extra         // of decisions
	Vectors                       score.Descriptor        // names of weights and their noise, as far as they are known
	Sets                          bool                    // a decision has the places of elements, not coordinates
	Reasons                       func() []console.Reason // why the process is not ready
}

// Page follows a service. It is safe for concurrent use.
type Page struct {
	about    About
	promised map[string]bool // members of decisions that the promise says already
	plays    bool            // each decision says what to do once, so that all that are heard count

	mu         sync.Mutex
	partitions map[int32]*partition // that the process owns
	inputs     int
	streams    int
	standby    notice.Standby
	guarantee  protection.Guarantee
	proved     bool // by a stream; the guarantee is that of its frozen params
	totals     totals
	history    history
	ages       []age
	ticks      int
	ticked     chan struct{} // closed at the next tick
	ended      chan struct{}
	clients    int
}

// totals are counts since the start of the process, over all partitions.
type totals struct{ records, steps, decisions, commits, aborts uint64 }

// partition is one that the process owns.
type partition struct {
	state    notice.TaskState
	stopped  string // why, where it has
	lag      int64
	counts   totals
	restarts int

	published []byte // the newest decision; empty: no other one since the last tick
	decision  *decision
	course    course
	effects   effects
	choices   choices
}

// New returns the page of a service that has not started.
func New(about About) *Page {
	p := &Page{
		about: about, partitions: map[int32]*partition{}, guarantee: about.Guarantee, ticked: make(chan struct{}),
		ended: make(chan struct{}), history: newHistory(),
	}
	p.plays = slices.ContainsFunc(about.Extras, func(x schemas.Extra) bool { return isChoice(x.Name) })
	p.promised = map[string]bool{}
	for _, m := range about.Guarantee.Members() {
		p.promised[m.Name] = true
	}
	return p
}

// tick is how often the page takes a sample and sends a frame.
const tick = time.Second

// Start takes samples until stop is called, which ends all event streams too. The first sample is taken early, so that
// an early visitor sees data.
func (p *Page) Start() (stop func()) {
	var done sync.WaitGroup
	done.Go(func() {
		timer := time.NewTimer(tick / 3)
		defer timer.Stop()
		for {
			select {
			case <-p.ended:
				return
			case now := <-timer.C:
				timer.Reset(tick)
				p.sample(now)
			}
		}
	})
	return func() {
		close(p.ended)
		done.Wait()
	}
}

// sample adds to the history, and wakes the event streams.
func (p *Page) sample(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := sample{at: now.Unix(), totals: p.totals, rows: map[int32][]float32{}}
	room := maxTracked
	for _, id := range p.owned() {
		part := p.partitions[id]
		s.lag += part.lag
		p.read(part)
		if part.decision != nil && room > 0 {
			s.rows[id] = part.course.row(part.decision, room)
			room -= len(part.course.slots)
		}
	}
	p.history.add(s)
	if p.ages == nil || p.ticks%agesEvery == 0 || p.ticks < agesEvery {
		perStream := p.history.rate() / float64(max(1, len(p.partitions))) // the mean of those that are owned
		p.ages = agesOf(p.guarantee, p.proved, perStream)
	}
	p.ticks++
	close(p.ticked)
	p.ticked = make(chan struct{})
}

// owned are the partitions in order.
func (p *Page) owned() []int32 { return slices.Sorted(maps.Keys(p.partitions)) }

// read parses the newest decision of a partition, unless it has done so already.
func (p *Page) read(part *partition) {
	if len(part.published) == 0 {
		return
	}
	if d, err := schemas.ParseDecision(part.published); err == nil { // always: it is ours
		if part.decision = p.newDecision(d); part.decision.experiment != nil {
			part.effects.add(part.decision.experiment)
		}
	}
	part.published = part.published[:0]
}
