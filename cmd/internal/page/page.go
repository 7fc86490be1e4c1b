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
	"oriel/schemas/decision"
)

// About describes the deployment. Operator and Version are shown unchanged.
type About struct {
	Deployment, Version, Operator string
	Audience                      notice.Audience         // who sees the page
	Step                          time.Duration           // length of a step by the clock; 0: steps are numbers of events
	Guarantee                     protection.Guarantee    // guarantee that the settings give, shown until a stream starts
	Numbers                       *operators.Numbers      // names and intervals of numbers; nil: decisions have no numbers
	Experiment                    *operators.Experiment   // experiment of the decisions; nil: none
	Extras                        []decision.Extra        // extra members of decisions
	Vectors                       score.Descriptor        // names of weights and their noise; zero: unknown
	Sets                          bool                    // decisions hold indices of elements, not coordinates
	Reasons                       func() []console.Reason // returns why the process is not ready
}

// Page follows a service. It is safe for concurrent use.
type Page struct {
	about    About
	promised map[string]bool // members of decisions that the page shows as part of the guarantee
	numbered map[string]int  // numbers of published names
	plays    bool            // each decision is one action, so that all of them count, not only the newest

	mu         sync.Mutex
	partitions map[int32]*partition // partitions that this process owns
	inputs     int
	streams    int
	standby    notice.Standby
	guarantee  protection.Guarantee
	proved     bool // a stream has started, and guarantee is that of the stream's frozen parameters
	totals     totals
	newest     time.Time // timestamp of the newest decision that the process has committed
	history    history
	clocked    history // numbers of steps by the clock, a sample at each decision
	ages       []age
	agesAt     int // tick at which the ages were computed
	ticks      int
	ticked     chan struct{} // channel that is closed at the next tick
	ended      chan struct{}
	clients    int
}

// totals are counts since the start of the process, over all partitions.
type totals struct{ records, steps, decisions, commits, aborts uint64 }

// partition is a partition that this process owns.
type partition struct {
	state    notice.TaskState
	stopped  string // why the partition stopped; "": it runs
	lag      int64
	counts   totals
	restarts int

	published *decision.Decision // the newest decision since the last tick; nil: none
	decision  *shownDecision
	course    course
	effects   effects
	choices   choices
}

// New returns the page of a service that has not started.
func New(about About) *Page {
	p := &Page{
		numbered: map[string]int{},
		about:    about, partitions: map[int32]*partition{}, guarantee: about.Guarantee, ticked: make(chan struct{}),
		ended: make(chan struct{}), history: newHistory(), clocked: newHistory(),
	}
	p.plays = slices.ContainsFunc(about.Extras, func(x decision.Extra) bool { return isChoice(x.Name) })
	p.promised = map[string]bool{}
	for _, m := range about.Guarantee.Members() {
		p.promised[m.Name] = true
	}
	return p
}

// tick is the time between two samples, and between two frames.
const tick = time.Second

// Start takes samples until stop is called, which also ends all event streams. It takes the first sample early, so that
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

// sample adds a sample to the history, and wakes the event streams.
func (p *Page) sample(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.history.add(p.sampled(now))
	p.ticks++
	close(p.ticked)
	p.ticked = make(chan struct{})
}

// sampled returns the state of the service at a moment.
func (p *Page) sampled(at time.Time) sample {
	s := sample{at: at.Unix(), totals: p.totals, rows: map[int32][]float32{}}
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
	return s
}

// courses returns the history of the numbers of decisions.
func (p *Page) courses() []sample {
	if p.about.Step > 0 {
		return p.clocked.samples
	}
	return p.history.samples
}

// owned returns the owned partitions in order.
func (p *Page) owned() []int32 { return slices.Sorted(maps.Keys(p.partitions)) }

// read shows the newest decision of a partition, if it is not shown yet.
func (p *Page) read(part *partition) {
	if part.published == nil {
		return
	}
	if part.decision = p.newDecision(part.published); part.decision.experiment != nil {
		part.effects.add(part.decision.experiment)
	}
	part.published = nil
}
