package histories

import (
	"math/rand/v2"
	"slices"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"oriel/pipeline/kafka/records"
	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/simtest"
)

// script is a history before it is played. All of it follows from the seed. A part can be left out, by its name,
// without changing the other parts.
type script struct {
	seed       uint64
	partitions int           // number of input partitions
	whole      bool          // the input partitions are one stream
	clock      *byClock      // nil: steps by count
	span       time.Duration // time in which the script's events happen; after it all faults end
	until      time.Duration // by the clock: the earliest time at which processes are told to end
	writer     writer
	brokers    int
	second     uint64 // steps per decision of the second topic; 0: no such decisions
	owed       int    // number of decisions due before the first record
	static     bool   // members have static ids
	interval   time.Duration
	slow       time.Duration // time that computing a record takes
	budget     int           // bytes that fetches may hold; 0: no limit
	memory     bool          // transactions have little memory
	bursts     []burst
	deaths     []death
	faults     []fault
	acts       []act
	letters    []int // request numbers at which `oriel letters` dies, one per life

	exchangeBurst, exchangeAt int // position of the record that differs in the neighbour
	exchange                  records.Record
	without                   []string
}

// burst is a batch of records that a client sends at one time.
type burst struct {
	at        time.Duration
	partition int32
	codec     records.Codec
	aborted   bool // the sender aborts the record's transaction
	records   []records.Record
}

// death is the place at which the n-th process of a name dies: at a request, or at a point of the protocol.
type death struct {
	member string
	life   int
	n      int
	point  notice.Point // where the process dies; "": at the n-th request
	heard  bool         // the broker has received and done the request
	pause  time.Duration
	disk   string                   // state of the disk afterwards: kept, lost, power
	torn   map[pipetest.Part]string // how parts of its transaction end: committed or late; other parts are aborted
	late   time.Duration
	told   bool // the end of the torn transaction was acknowledged, so the local store has followed it
}

// fault is a disturbance between processes and brokers, from one time to another.
type fault struct {
	from, to time.Duration
	simtest.Fault
}

// act is something that happens once.
type act struct {
	at        time.Duration
	what      string // one of start, stop, kill, move, retain, upgrade, topics, add, forge
	member    string
	topic     string
	partition int32
	death     death   // of a kill
	share     float64 // share of the deletable records that retention deletes
}

// span is the time in which the events of a script without steps by the clock happen.
const span = 8 * time.Second

func pick[T any](random *rand.Rand, list ...T) T { return list[random.IntN(len(list))] }

func within(random *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(random.Int64N(int64(to-from)))
}

// write draws a script.
func write(seed uint64, without ...string) script {
	random := rand.New(rand.NewPCG(seed, 27))
	s := script{
		seed: seed, partitions: 1, brokers: 1, without: without, span: span,
		interval: pick[time.Duration](random, 50, 100, 300)*time.Millisecond + 7*time.Nanosecond,
	}
	if random.IntN(4) == 0 {
		s.partitions = 2
	}
	if random.IntN(4) == 0 {
		s.brokers = 2
	}
	s.second = pick[uint64](random, 0, 0, 0, 1, 3, 7)
	s.owed = pick(random, 0, 0, 0, 1, 4)
	s.static = random.IntN(3) > 0
	s.slow = pick[time.Duration](random, 0, 0, 0, 100*time.Microsecond, 9*time.Millisecond)
	s.budget = pick(random, 0, 0, 0, 1, 5000)
	s.memory = random.IntN(6) == 0
	s.writeBursts(random)
	s.writeDeaths(random)
	s.writeTold(rand.New(rand.NewPCG(seed, 30)))
	s.writeFaults(random)
	s.writeActs(random)
	for range pick(random, 0, 0, 0, 1, 2) {
		s.letters = append(s.letters, 1+random.IntN(40))
	}
	if !slices.Contains(without, "whole") && random.IntN(2) == 0 {
		s.writeWhole(rand.New(rand.NewPCG(seed, 29)))
		if clock := rand.New(rand.NewPCG(seed, 31)); clock.IntN(4) == 0 && !slices.Contains(without, "clock") {
			s.writeClock(clock)
		}
	}
	s.leaveOut(without)
	s.writeExchange(rand.New(rand.NewPCG(seed, 28)))
	return s
}

func (s *script) writeBursts(random *rand.Rand) {
	for range 2 + random.IntN(5) {
		b := burst{
			at: within(random, 0, span-time.Second), partition: int32(random.IntN(s.partitions)),
			codec: pick(random, records.NoCompression, records.NoCompression, records.Gzip, records.Snappy, records.LZ4,
				records.Zstd),
			aborted: random.IntN(10) == 0,
		}
		for i := range 1 + random.IntN(8) {
			r := record(random)
			if i > 0 {
				r.Timestamp = pick[int64](random, 0, 0, 1, -1, -86_400_000, 3_600_000)
			}
			b.records = append(b.records, r)
		}
		if random.IntN(100) == 0 {
			b.codec, b.records = records.Zstd, large(random, b.records)
		}
		s.bursts = append(s.bursts, b)
	}
	slices.SortFunc(s.bursts, func(a, b burst) int { return int(a.at - b.at) })
}

func (s *script) writeDeaths(random *rand.Rand) {
	for life := range pick(random, 0, 1, 1, 2, 2, 3) {
		d := death{
			member: "a", life: life, heard: random.IntN(2) == 0, pause: within(random, 0, 3*time.Second),
			disk: pick(random, "kept", "kept", "lost", "power"),
		}
		// Small numbers are more frequent, because an opening or a take-over takes only the first few of many requests.
		d.n = 1 + int(float64(140)*random.Float64()*random.Float64())
		if random.IntN(4) == 0 {
			d.point = pick(random, notice.PointFenced, notice.PointRestored, notice.PointProduced, notice.PointEnded)
			d.n = 1 + random.IntN(4)
		}
		if random.IntN(4) == 0 {
			d.point, d.n, d.torn = notice.PointProduced, 1+random.IntN(4), map[pipetest.Part]string{}
			for _, part := range []pipetest.Part{
				pipetest.Decisions, pipetest.Second, pipetest.Verdicts, pipetest.Changelog, pipetest.Offset,
			} {
				d.torn[part] = pick(random, "committed", "committed", "aborted", "late")
			}
			d.late = within(random, 100*time.Millisecond, 4*time.Second)
		}
		s.deaths = append(s.deaths, d)
	}
}

// writeTold marks some of the torn transactions as acknowledged.
func (s *script) writeTold(random *rand.Rand) {
	for i := range s.deaths {
		s.deaths[i].told = s.deaths[i].torn != nil && random.IntN(2) == 0
	}
}

// codes are error codes of temporary refusals.
var codes = []simtest.Effect{
	simtest.Refused(kafkago.NotEnoughReplicas), simtest.Refused(kafkago.NotLeaderForPartition),
	simtest.Refused(kafkago.GroupLoadInProgress), simtest.Refused(kafkago.NotCoordinatorForGroup),
	simtest.Refused(kafkago.RequestTimedOut), simtest.Refused(kafkago.ConcurrentTransactions),
	simtest.Refused(kafkago.LeaderNotAvailable),
}

func (s *script) writeFaults(random *rand.Rand) {
	apis := []string{
		"Fetch", "Produce", "EndTxn", "AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "InitProducerID",
		"ListOffsets", "OffsetFetch", "JoinGroup", "SyncGroup", "Heartbeat", "FindCoordinator", "Metadata",
		"OffsetForLeaderEpoch", "",
	}
	for range pick(random, 0, 0, 1, 1, 2, 3) {
		f := fault{from: within(random, 0, span-time.Second)}
		f.to = f.from + within(random, 200*time.Millisecond, 6*time.Second)
		f.Kind = simtest.Kind{API: pick(random, apis...), Partition: simtest.AnyPartition}
		switch random.IntN(7) {
		case 0: // one request, or a few
			f.Skip, f.Count = random.IntN(5), 1+random.IntN(3)
			f.Effect = pick(random, append(codes, simtest.Lost, simtest.Cut, simtest.Lost, simtest.Cut)...)
		case 1: // slow while the fault lasts
			f.Count, f.Effect = -1, simtest.Late(within(random, time.Millisecond, 900*time.Millisecond))
			f.Kind.API = pick(random, "EndTxn", "Produce", "Fetch", "InitProducerID", "")
		case 2: // beyond every time limit: the request is done after the client has gone
			f.Count, f.Effect = 1+random.IntN(2), simtest.Late(within(random, 14*time.Second, 20*time.Second))
		case 3:
			f.Kind.API, f.Count, f.Effect = "Fetch", -1, simtest.Partial
		case 4:
			f.Count, f.Effect = -1, pick(random, append(codes, simtest.Lost, simtest.Cut)...)
		case 5: // the process is paused, and others may replace it
			f.Kind.Member, f.Kind.API, f.Count = pick(random, "a", "a", "b"), "", 3+random.IntN(30)
			f.Effect = simtest.Late(within(random, 7*time.Second, 25*time.Second))
		default: // lasts until the process is started again
			f.Kind.Member, f.Life, f.Count = "a", true, -1
			f.Effect = pick(random, append(codes, simtest.Lost, simtest.Cut)...)
		}
		s.faults = append(s.faults, f)
	}
}

func (s *script) writeActs(random *rand.Rand) {
	ours := []string{"trips", "late.decisions", "late.verdicts", "late.changelog"}
	if random.IntN(3) == 0 {
		at := within(random, 0, span/2)
		s.acts = append(s.acts, act{at: at, what: "start", member: "b"})
		if random.IntN(2) == 0 {
			s.acts = append(s.acts, act{at: within(random, at, span), what: "stop", member: pick(random, "a", "b")})
		}
	}
	for range pick(random, 0, 0, 1, 3) {
		s.acts = append(s.acts, act{
			at: within(random, 0, span), what: "move", topic: pick(random, ours...),
			partition: int32(random.IntN(s.partitions)),
		})
	}
	if random.IntN(4) == 0 {
		s.acts = append(s.acts, act{
			at: within(random, span/4, span), what: "retain", topic: pick(random, ours[:3]...),
			partition: int32(random.IntN(s.partitions)), share: random.Float64(),
		})
	}
	if random.IntN(8) == 0 {
		s.acts = append(s.acts, act{at: within(random, span/4, span), what: "upgrade"})
	}
	slices.SortFunc(s.acts, func(a, b act) int { return int(a.at - b.at) })
}

// writeExchange draws the record that differs in the neighbour.
func (s *script) writeExchange(random *rand.Rand) {
	for range 10 {
		if len(s.bursts) == 0 {
			return
		}
		b := random.IntN(len(s.bursts))
		if list := s.bursts[b].records; len(list) > 0 && !s.bursts[b].aborted {
			at := random.IntN(len(list))
			if other, ok := exchanged(random, s.bursts[b].codec, list, at); ok {
				s.exchangeBurst, s.exchangeAt, s.exchange = b, at, other
				return
			}
		}
	}
	s.exchangeBurst = -1
}

// neighbour returns the same script with other contents of one record, or false if there is no such script. By the
// clock, it is a script with a record or a user more or less.
func (s script) neighbour() (script, bool) {
	if s.clock != nil {
		return s.presence()
	}
	if len(s.bursts) == 0 || s.exchangeBurst < 0 {
		return s, false
	}
	s.bursts = slices.Clone(s.bursts)
	b := &s.bursts[s.exchangeBurst]
	b.records = slices.Clone(b.records)
	b.records[s.exchangeAt] = s.exchange
	return s, true
}
