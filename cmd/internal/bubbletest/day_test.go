package bubbletest

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"oriel/cmd/internal/service"
	"oriel/cmd/internal/servicetest"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
	"oriel/pipeline/streams"
	"oriel/schemas/decision"
)

// keyed is a learner all of whose machines begin with the same key, so that deployments of it can be compared.
type keyed struct{ streams.Opener }

func (l keyed) Open(params []byte) (func([32]byte) (operators.Machine, error), error) {
	open, err := l.Opener.Open(params)
	return func([32]byte) (operators.Machine, error) { return open([32]byte{7}) }, err
}

// dayBegins is when the first step begins, after the beginning of the bubble. The day ends 24 hours later, so a period
// that begins at midnight ends within it.
const dayBegins = 12 * time.Hour

// day is a deployment of private counts by the clock, and its input of 24 hours.
type day struct {
	env      map[string]string
	model    func(settings.Settings) (streams.Model, error)
	prepared string        // data directory of a broker with the deployment's topics and nothing in them
	length   time.Duration // of a step
	always   bool          // a process runs all day
}

// prepareDay makes the topics of a deployment, whose steps begin with the day.
func prepareDay(t *testing.T, length time.Duration, unit string) day {
	t.Helper()
	d := day{
		env: maps.Clone(perMinute), prepared: filepath.Join(t.TempDir(), "prepared"), length: length,
		model: seated(func(m *streams.Model, _ protection.Guarantee) { m.Learner = keyed{m.Learner} }),
	}
	maps.Copy(d.env, map[string]string{
		"ORIEL_STEP": length.String(), "ORIEL_START": "2000-01-01T12:00:00Z", "ORIEL_MECHANISM": "once-laplace",
		"ORIEL_COMMIT_INTERVAL": "1s",
	})
	delete(d.env, "ORIEL_DELTA")
	if length == 24*time.Hour {
		d.env["ORIEL_STEP_OFFSET"] = "12h"
	}
	if unit == "user-period" {
		d.env["ORIEL_USER_ID"], d.env["ORIEL_USER_PERIOD"], d.env["ORIEL_USER_EVENTS"] = "key", "24h", "2"
	}
	synctest.Test(t, func(t *testing.T) {
		b := bubble{servicetest.NewBubble(t, simtest.NewIn(t, d.prepared), d.env, d.model)}
		b.Create(3, map[string]string{"message.timestamp.type": "LogAppendTime"})
	})
	return d
}

// reading is a way to read the day.
type reading struct {
	// log is the data directory of a broker that has the input already. "": records arrive while the service runs
	log     string
	ordered bool // the directory's order log is taken over, too
	kills   int  // how many processes die
}

// sends appends the records of the day, and calls between while time passes. Records come in bursts. Some hours are
// empty, some records are no events, and each user has more records than count, on both sides of midnight. Each burst
// has a client of its own, because one that lived all day would ask for metadata every few seconds.
func (d bubble) sends(between func(until time.Duration)) {
	seq := 0
	for n := range tiertest.Runs(96, 288) {
		at := time.Duration(n) * tiertest.Runs(15*time.Minute, 5*time.Minute)
		if at/time.Hour%5 == 3 {
			continue
		}
		between(at + time.Duration(n*37%290)*time.Second + time.Duration(n*7919%1000)*time.Millisecond)
		client, err := kafka.New(kafka.Config{Brokers: []string{d.Broker.Addr()}, Dial: d.Broker.Dial})
		if err != nil {
			d.T.Fatal(err)
		}
		for p := range int32(3) {
			list := make([]records.Record, (n+int(p))%3)
			for i := range list {
				seq++
				list[i].Key = fmt.Append(nil, "user ", seq*seq%97)
				if list[i].Value = fmt.Appendf(nil, `{"store":%d}`, seq%4); seq%11 == 0 {
					list[i].Value = []byte(`{"store":"none"}`)
				}
			}
			if len(list) > 0 {
				err = errors.Join(err, logtest.Send(d.Ctx(), client, d.Env["ORIEL_INPUT_TOPIC"], p, list...))
			}
		}
		if err = errors.Join(err, client.Close()); err != nil {
			d.T.Fatal(err)
		}
	}
	between(24 * time.Hour)
}

// read reads the day on a copy of the prepared directory, and returns the committed decisions, without what is random
// in each deployment, and the directory.
func (d day) read(t *testing.T, r reading) (all []string, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "broker")
	if err := os.CopyFS(dir, os.DirFS(d.prepared)); err != nil {
		t.Fatal(err)
	}
	if r.log != "" {
		d.copyLog(t, dir, r)
	}
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now().Add(dayBegins)
		time.Sleep(time.Until(begin))
		if r.log != "" {
			time.Sleep(24*time.Hour + 20*time.Second)
		}
		on := simtest.NewWith(t, simtest.Options{Dir: dir, CompactEvery: time.Hour})
		b := bubble{servicetest.NewBubble(t, on, d.env, d.model)}
		p := processes{bubble: b, kills: r.kills}
		if r.log == "" {
			b.sends(func(until time.Duration) { p.until(d, begin, until) })
		}
		p.start()
		time.Sleep(25 * time.Second) // before the next step has its decision
		if err := p.now.Stop(); err != nil || p.kills > 0 {
			t.Errorf("%v: %s; %d kills are left", err, p.now.Out, p.kills)
		}
		for _, r := range b.Read(b.Topic("decisions"), 0, false) {
			is, err := decision.Parse(r.Value)
			if err != nil {
				t.Fatal(err)
			}
			line, _ := decision.AppendLine(nil, r.Value)
			own := fmt.Sprintf("%x", is.Incarnation)
			if !strings.Contains(string(line), own) {
				t.Errorf("%s: not of the incarnation %s", line, own)
			}
			all = append(all, fmt.Sprintf("%d: %s: %s", r.Timestamp, r.Key, strings.ReplaceAll(string(line), own, "")))
		}
	})
	return all, dir
}

// copyLog gives a broker's data directory the input, and perhaps the order log, of another one.
func (d day) copyLog(t *testing.T, dir string, r reading) {
	t.Helper()
	topics := []string{"late.events-0", "late.events-1", "late.events-2"}
	if r.ordered {
		topics = append(topics, "late.order-0")
	}
	for _, topic := range topics {
		to := filepath.Join(dir, "partitions", topic)
		if err := os.RemoveAll(to); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(to, os.DirFS(filepath.Join(r.log, "partitions", topic))); err != nil {
			t.Fatal(err)
		}
	}
}

// processes are the processes that read the day one after another.
type processes struct {
	bubble
	now    *servicetest.Command
	number int
	kills  int // processes that have yet to die
	doomed int // number of the last process that will die
}

// start starts a process unless one runs. Every third process has a new disk.
func (p *processes) start() {
	if p.now != nil && !p.now.Ended() {
		return
	}
	disk := simtest.NewDisk()
	if p.now != nil && !p.now.Alive() {
		p.kills--
	}
	if p.number++; p.number%3 > 0 && p.now != nil {
		disk = p.now.Disk()
	}
	p.now = p.Start(fmt.Sprint("process ", p.number), disk, service.Run)
}

// windows are the times at which a process runs in the short form: from the first minute on, and around ends of steps,
// midnight among them. In the long form a process of every second case runs all the time.
var windows = []time.Duration{0, 59 * time.Minute, 12*time.Hour - time.Minute, 24*time.Hour - 2*time.Minute}

const window = 130 * time.Second

// runsAt reports whether a process runs at a time of the day.
func (d day) runsAt(at time.Duration) bool {
	return d.always || slices.ContainsFunc(windows, func(w time.Duration) bool { return w <= at && at < w+window })
}

// until lets time pass, in which processes start, die, and stop. Each process that must die does so at another request.
func (p *processes) until(d day, begin time.Time, until time.Duration) {
	between := time.Duration(0) // between two deaths
	if d.always {
		between = 70 * time.Minute
	}
	for at := time.Since(begin); at < until; at = time.Since(begin) {
		switch {
		case d.runsAt(at):
			p.start()
			if p.kills > 0 && p.doomed < p.number && at >= time.Duration(dayKills-p.kills)*between {
				p.doomed = p.number
				p.now.KillAtRequest(5+p.number*31%120, p.number%2 == 0)
			}
		case p.now != nil && !p.now.Ended():
			if err := p.now.Stop(); err != nil {
				p.T.Error(err)
			}
		}
		time.Sleep(min(3*time.Second, until-at))
	}
}

// dayKills is the number of processes that die in a day.
const dayKills = 20

// TestADayGivesTheSameBytes reads a day of LogAppendTime records in four ways, with each unit and with steps of a
// minute, an hour and a day. It reads them while they arrive, and afterwards all at once, under an order log of its
// own. It reads them while processes die, and by a second deployment with the same key under the first one's order
// log. The decisions must have equal bytes. Each step must have a decision, also those of empty hours.
func TestADayGivesTheSameBytes(t *testing.T) {
	units := []string{"event", "user-period"}
	for i, length := range []time.Duration{time.Minute, time.Hour, 24 * time.Hour} {
		for _, unit := range tiertest.Runs(units[i%2:i%2+1], units) {
			t.Run(fmt.Sprintf("%s/%v", unit, length), func(t *testing.T) {
				d := prepareDay(t, length, unit)
				d.always = tiertest.Runs(false, unit == units[i%2])
				want, dir := d.read(t, reading{})
				if len(want) != int(24*time.Hour/length) {
					t.Errorf("%d decisions of a day", len(want))
				}
				for name, r := range map[string]reading{
					"fast": {log: dir}, "with kills": {kills: dayKills}, "a second deployment": {log: dir, ordered: true},
				} {
					got, _ := d.read(t, r)
					if text := simtest.Difference(want, got); text != "" {
						t.Errorf("%s: %s", name, text)
					}
				}
			})
		}
	}
}
