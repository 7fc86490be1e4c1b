package histories

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"oriel/pipeline/kafka/records"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
	"oriel/schemas/decision"
)

// calmAPIs are the requests that fail in a calm history. Requests that read the input are not among them: a decision
// waits for the records before its end, so that one that cannot be read delays it.
var calmAPIs = []string{
	"Produce", "EndTxn", "AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "InitProducerID", "OffsetFetch",
	"JoinGroup", "SyncGroup", "Heartbeat", "FindCoordinator",
}

// calm lets all faults follow from times: a process dies at a moment, not at its n-th request, because the number of
// requests follows from records. Then readers must see the same with one record more or less.
func (s *script) calm(random *rand.Rand) {
	s.brokers, s.budget = 1, 0
	for _, d := range s.deaths {
		if d.n, d.point, d.torn = 0, "", nil; d.member == "a" {
			s.acts = append(s.acts, act{at: within(random, 0, s.span), what: "kill", member: "a", death: d})
		}
	}
	s.deaths = nil
	s.faults = slices.DeleteFunc(s.faults, func(f fault) bool {
		return f.Count >= 0 || f.Life || f.Effect == simtest.Partial ||
			!slices.Contains(calmAPIs, f.Kind.API) && f.Kind.Topic != "late.order"
	})
	s.acts = slices.DeleteFunc(s.acts, func(a act) bool {
		return a.what == "retain" || a.what == "forge" && a.share >= 0.5
	})
	slices.SortStableFunc(s.acts, func(a, b act) int { return int(a.at - b.at) })
	for i := range s.bursts {
		if b := &s.bursts[i]; len(b.records) > 20 { // a service under overload is late
			b.records = b.records[:20]
		}
	}
}

// kill kills a process at a moment.
func (p *play) kill(a act) {
	l := p.lives[a.member]
	if l == nil || l.over || !l.Alive() {
		return
	}
	l.now = &a.death
	l.Kill()
	p.out.count("killed at a moment")
}

// presence returns a neighbour of a calm history: one record is inserted or deleted, or all records of a user.
func (s script) presence() (script, bool) {
	random := rand.New(rand.NewPCG(s.seed, 32))
	if !s.clock.calm || len(s.bursts) == 0 {
		return s, false
	}
	s.bursts = slices.Clone(s.bursts)
	at := random.IntN(len(s.bursts))
	b := &s.bursts[at]
	i := pick(random, 0, len(b.records)-1, random.IntN(len(b.records)))
	kind := random.IntN(4)
	switch user := b.records[i].Key; {
	case kind == 0 && s.clock.users != nil && len(user) > 0:
		for j := range s.bursts {
			s.bursts[j].records = slices.DeleteFunc(slices.Clone(s.bursts[j].records), func(r records.Record) bool {
				return bytes.Equal(r.Key, user)
			})
		}
	case kind == 1: // a batch of its own
		alone := burst{
			at: within(random, 0, s.span-time.Second), partition: b.partition, codec: b.codec,
			records: []records.Record{record(random)},
		}
		s.bursts = append(s.bursts, alone)
	case kind == 2:
		b.records = slices.Insert(slices.Clone(b.records), i, record(random))
	default:
		b.records = slices.Delete(slices.Clone(b.records), i, i+1)
	}
	s.bursts = slices.DeleteFunc(s.bursts, func(b burst) bool { return len(b.records) == 0 })
	slices.SortStableFunc(s.bursts, func(a, b burst) int { return int(a.at - b.at) })
	return s, true
}

// readDecisions keeps what readers see: the batches of the topic of decisions with offsets, epochs and markers, the
// step, time and timestamp of each decision, and what processes say to readers.
func (p *play) readDecisions() {
	o, topic := p.out, p.setup.Config.Decisions
	conn, err := p.Dial(p.t.Context(), "", p.Addr())
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	batches, err := logtest.Batches(conn, topic)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, h := range batches {
		o.read = append(o.read, logtest.BatchLine(h))
	}
	for _, e := range o.logs[place{topic, 0}] {
		d, err := decision.Parse(e.record.Value)
		if err != nil {
			p.t.Fatal(err)
		}
		o.read = append(o.read, fmt.Sprintf("%d: step %d, time %d, timestamp %d, key of %d, value of %d, committed: %t",
			e.record.Offset, d.Step, d.Time(), e.record.Timestamp, len(e.record.Key), len(e.record.Value), e.committed))
	}
	said := slices.Clone(o.said)
	for i, line := range said {
		_, said[i], _ = strings.Cut(line, " ") // without its time: the length of a take-over follows from its requests
	}
	slices.SortStableFunc(said, func(a, b string) int { return cmp.Compare(a[0], b[0]) }) // by process
	o.read = append(o.read, said...)
}
