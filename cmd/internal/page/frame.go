package page

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"oriel/cmd/internal/digits"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/pipeline/console"
	"oriel/pipeline/notice"
)

// maxPartitions is the largest number of partitions that are listed; totals count all.
const maxPartitions = 64

// about is the data that does not change. It is the first event of an event stream.
type about struct {
	Deployment string      `json:"deployment"`
	Version    string      `json:"version"`
	Operator   string      `json:"operator"`
	Readers    bool        `json:"readers"` // the page is for readers
	Promise    string      `json:"promise"`
	Details    string      `json:"details"`
	Aged       string      `json:"aged"`            // unit of privacy whose loss the ages state
	Step       float64     `json:"step,omitempty"`  // length of a step by the clock, s
	Names      [][3]string `json:"names,omitempty"` // names of numbers: memory, statistic and cell

	Experiment *aboutExperiment `json:"experiment,omitempty"`
}

// now is a frame: the state of the service at one moment. Readers see it without operations.
type now struct {
	Time      int64     `json:"time"` // the moment, Unix milliseconds
	Ready     bool      `json:"ready"`
	Steps     uint64    `json:"steps"` // steps and decisions since the start of the process
	Decided   uint64    `json:"decided"`
	Newest    int64     `json:"newest,omitempty"` // timestamp of the newest decision, Unix milliseconds
	Ages      []age     `json:"ages"`
	Decisions []decided `json:"decisions"`
	*operations
}

// operations is the part of a frame that operators alone see.
type operations struct {
	Reasons    []reason        `json:"reasons"`
	Standby    notice.Standby  `json:"standby,omitempty"`
	Inputs     int             `json:"inputs"`
	Streams    int             `json:"streams"`
	Owned      int             `json:"owned"`
	Lag        int64           `json:"lag"`
	Counts     counts          `json:"counts"`
	Partitions []partitionLine `json:"partitions"`
}

// reason says why the process is not ready, and where to read advice.
type reason struct {
	Name    string   `json:"name"`
	Lines   []string `json:"lines"`
	Section string   `json:"section"` // section of deploy/RUNBOOK.md
}

type counts struct {
	Records   uint64 `json:"records"`
	Steps     uint64 `json:"steps"`
	Decisions uint64 `json:"decisions"`
	Commits   uint64 `json:"commits"`
	Aborts    uint64 `json:"aborts"`
}

type partitionLine struct {
	ID       int32            `json:"id"`
	State    notice.TaskState `json:"state"`
	Stopped  string           `json:"stopped,omitempty"`
	Lag      int64            `json:"lag"`
	Restarts int              `json:"restarts"`
	counts
}

type decided struct {
	Partition int32    `json:"partition"`
	Kind      string   `json:"kind"`
	Stream    string   `json:"stream"`
	Index     uint64   `json:"index"`
	Step      uint64   `json:"step"`
	Until     *int64   `json:"until,omitempty"` // latest timestamp of the events, Unix milliseconds
	Dimension int      `json:"dimension"`
	At        []int    `json:"at,omitempty"`
	Names     []string `json:"names,omitempty"` // names of weights
	Values    []shown  `json:"values,omitempty"`
	Low       []shown  `json:"low,omitempty"`
	High      []shown  `json:"high,omitempty"`
	Set       []string `json:"set,omitempty"`
	Shares    []share  `json:"shares,omitempty"`
	Members   []member `json:"members,omitempty"`

	Experiment *experiment `json:"experiment,omitempty"`
	Band       string      `json:"band,omitempty"` // description of the band
}

// sections maps the reason for which a process waits to a section of deploy/RUNBOOK.md.
var sections = map[string]string{
	"partitions": "OrielRestoring", "input": "OrielInputAwaited", "disk": "OrielDiskFull",
	"group": "OrielMembersDisagree", "brokers": "OrielBrokersAway",
}

// stoppedSection is the runbook's section about a partition that has stopped.
const stoppedSection = "OrielTaskStopped"

func (p *Page) aboutFrame() []byte {
	p.mu.Lock()
	g := p.guarantee
	p.mu.Unlock()
	a := about{
		Deployment: p.about.Deployment, Version: p.about.Version, Operator: p.about.Operator,
		Readers: p.about.Audience != notice.Operators,
		Promise: fmt.Sprintf("ε = %s for %s", digits.Upper(g.Epsilon), g.Words().Claim),
		Details: details(g), Aged: g.Words().Aged, Step: p.about.Step.Seconds(),
		Experiment: newAboutExperiment(p.about.Experiment),
	}
	if p.about.Numbers != nil {
		for _, n := range p.about.Numbers.Names[:min(maxNumbers, len(p.about.Numbers.Names))] {
			a.Names = append(a.Names, [3]string{n.Memory, n.Statistic, n.Cell})
		}
	}
	return encoded(a)
}

// details explains the guarantee and the unit that it protects.
func details(g protection.Guarantee) string {
	change := "Exchanging"
	if g.Unit.Adjacency() == dp.AddRemove {
		change = "Adding or removing"
	}
	text := change + " it changes the chance of anything that is published by a factor of at most " +
		digits.Upper(math.Exp(g.Epsilon))
	if g.Delta > 0 {
		text += fmt.Sprintf(", plus δ = %g", g.Delta)
	}
	return fmt.Sprintf("%s. Mechanism %s, adjacency %s, unit %s.", text, g.Mechanism, g.Unit.Adjacency(), g.Unit.Name())
}

func (p *Page) pastFrame() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return encoded(p.history.past(p.about.Audience))
}

// nowFrame returns the frame of this moment.
func (p *Page) nowFrame() []byte {
	reasons := p.about.Reasons() // before p is locked, because Reasons has a lock of its own
	p.mu.Lock()
	defer p.mu.Unlock()
	f := now{
		Time: time.Now().UnixMilli(), Ready: len(reasons) == 0, Steps: p.totals.steps, Decided: p.totals.decisions,
		Ages: p.agesNow(), Decisions: []decided{},
	}
	if !p.newest.IsZero() {
		f.Newest = p.newest.UnixMilli()
	}
	room := maxNumbers
	for _, id := range p.owned() {
		part := p.partitions[id]
		p.read(part)
		if d := part.decision; d != nil && len(d.at) <= room && len(f.Decisions) < maxPartitions {
			room -= len(d.at)
			f.Decisions = append(f.Decisions, decided{
				id, d.kind, d.stream, d.index, d.step, d.until, d.dimension, d.at, d.names, d.values, d.low, d.high, d.set,
				part.choices.shares(), d.members, d.experiment, d.band,
			})
		}
	}
	if p.about.Audience == notice.Operators {
		f.operations = p.operations(reasons)
	}
	return encoded(f)
}

// operations returns the part of a frame that operators alone see.
func (p *Page) operations(reasons []console.Reason) *operations {
	o := &operations{
		Standby: p.standby, Inputs: p.inputs, Streams: p.streams, Owned: len(p.partitions), Counts: p.totals.counts(),
		Reasons: []reason{}, Partitions: []partitionLine{},
	}
	stopped := false
	for _, id := range p.owned() {
		part := p.partitions[id]
		o.Lag += part.lag
		stopped = stopped || part.state == notice.Halted
		if len(o.Partitions) < maxPartitions {
			o.Partitions = append(o.Partitions, partitionLine{
				id, part.state, part.stopped, part.lag, part.restarts, part.counts.counts(),
			})
		}
	}
	for _, r := range reasons {
		section := sections[r.Name]
		if r.Name == "partitions" && stopped {
			section = stoppedSection
		}
		o.Reasons = append(o.Reasons, reason{r.Name, r.Lines, section})
	}
	return o
}

func (t totals) counts() counts { return counts{t.records, t.steps, t.decisions, t.commits, t.aborts} }

// courseFrame is the history of one coordinate of a partition's decisions.
type courseFrame struct {
	Time  []int64  `json:"time"`
	Steps []uint64 `json:"steps"`
	Value []shown  `json:"value"`
	Low   []shown  `json:"low"`
	High  []shown  `json:"high"`
}

func (p *Page) courseFrame(id int32, coordinate int) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := courseFrame{[]int64{}, []uint64{}, []shown{}, []shown{}, []shown{}}
	part := p.partitions[id]
	if part == nil {
		return encoded(f)
	}
	slot, has := part.course.slots[coordinate]
	for _, s := range p.courses() {
		row := s.rows[id]
		if !has || len(row) < 3*slot+3 {
			continue
		}
		f.Time, f.Steps = append(f.Time, s.at), append(f.Steps, s.steps)
		f.Value = append(f.Value, shown(row[3*slot]))
		f.Low, f.High = append(f.Low, shown(row[3*slot+1])), append(f.High, shown(row[3*slot+2]))
	}
	return encoded(f)
}

func encoded(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("BUG: page: " + err.Error())
	}
	return b
}
