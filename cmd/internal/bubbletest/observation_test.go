package bubbletest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"oriel/cmd/internal/service"
	"oriel/cmd/internal/servicetest"
	"oriel/cmd/internal/settings"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/pipetest/simtest"
	"oriel/pipeline/streams"
	"oriel/schemas/decision"
)

// sight is everything that an observer can see of a run, as lines of text.
type sight []string

func (s *sight) see(what, text string) {
	for line := range strings.Lines(text) {
		*s = append(*s, what+": "+strings.TrimSuffix(withoutIDs(line), "\n"))
	}
}

// withoutIDs replaces the random ids of topics, members and incarnations, each of 32 hexadecimal digits, because they
// differ between runs.
func withoutIDs(line string) string {
	const width = 32
	var rest strings.Builder
	written := 0
	for at := 0; at+width <= len(line); {
		// looks from the end of a possible id, so that most bytes of a line are never read
		if last := strings.LastIndexFunc(line[at:at+width], isNoDigit); last >= 0 {
			at += last + 1
			continue
		}
		rest.WriteString(line[written:at] + "…")
		at += width
		written = at
	}
	return rest.String() + line[written:]
}

// isNoDigit reports whether c is no hexadecimal digit.
func isNoDigit(c rune) bool { return (c < '0' || c > '9') && (c < 'a' || c > 'f') }

// seeEnd adds the output of a process, and whether it ended with an error.
func (s *sight) seeEnd(c *servicetest.Command) {
	for _, line := range byMoment(c.Out.String()) {
		s.see("log", line)
	}
	if c.Alive() {
		s.see("exit code", fmt.Sprint(c.Code))
	} else {
		s.see("exit code", "killed")
	}
}

// patience is the longest time that a run may take to recover from a fault.
const patience = time.Minute

// beside is the name of a command that runs beside the service.
const beside = "beside"

// observe runs a service over an input, makes one request fail, and returns everything that is visible.
func observe(
	t *testing.T, model func(settings.Settings) (streams.Model, error), in neighbour, faults ...simtest.Fault,
) (seen sight, trace []simtest.Request) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		env := map[string]string{"ORIEL_LOG_LEVEL": "debug", "ORIEL_COMMIT_INTERVAL": "200ms", "ORIEL_DECISION_GAUGES": "3"}
		maps.Copy(env, in.env)
		d := newBubble(t, in.partitions, env, model)
		d.Broker.Fail(faults...)
		a := d.Start("a", simtest.NewDisk(), service.Run)
		if in.kill != "" {
			a.KillAt(in.kill, in.at)
		}
		began := time.Now()
		over := false
		for tick := 1; !over && time.Since(began) < patience; tick++ {
			time.Sleep(500 * time.Millisecond)
			for p := range int32(in.partitions) {
				if tick <= bursts {
					d.sendBurst(in, p, tick-1)
				}
			}
			if tick == 2 && in.beside != nil {
				other := in.beside(d)
				_ = other.Wait()
				seen.seeEnd(other)
			}
			if tick%2 == 0 {
				seen.see(time.Since(began).String(), d.get(a, "/readyz")+d.get(a, "/metrics"))
				time.Sleep(time.Millisecond) // lets everything happen that is due at the same moment
				seen.see(time.Since(began).String(), d.get(a, "/page/course?partition=0&coordinate=0")+
					d.get(a, "/page/course?partition=0&arm=1")+d.events(a, 1))
			}
			if !a.Alive() && a.Ended() {
				seen.seeEnd(a)
				a = d.Start("a", a.Disk(), service.Run)
			}
			if tick == bursts {
				d.seeAssets(&seen, a)
				seen.see("frames", d.events(a, 2))
			}
			over = tick > bursts && (d.taken(in) || a.Ended())
		}
		_ = a.Stop()
		seen.seeEnd(a)
		if in.env["ORIEL_STREAM"] == "topic" {
			d.seeTopic(&seen, d.Topic("order"), 0)
		}
		for p := range int32(in.streams()) {
			for _, topic := range slices.Concat([]string{"decisions", "verdicts", "changelog"}, in.further) {
				d.seeTopic(&seen, d.Topic(topic), p)
			}
		}
		trace = slices.DeleteFunc(d.Broker.Requests(), func(r simtest.Request) bool {
			return r.Member != "a" && r.Member != beside
		})
		if in.streams() < in.partitions {
			blurred(trace)
		}
		for _, r := range trace {
			seen.see("request", r.String())
		}
		if !over {
			t.Errorf("%v: neither over it nor at an end after %v", faults, patience)
		}
	})
	return seen, trace
}

// blurred rounds times, because the moment at which an empty fetch of order records returns differs by less than a
// microsecond from run to run.
func blurred(trace []simtest.Request) {
	for i := range trace {
		r := &trace[i]
		r.At, r.Took = r.At.Round(100*time.Microsecond), r.Took.Round(100*time.Microsecond)
	}
	slices.SortFunc(trace, func(a, b simtest.Request) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.String(), b.String()))
	})
}

func (d bubble) sendBurst(in neighbour, p int32, n int) {
	d.T.Helper()
	var list []records.Record
	for i := range in.burst {
		if in.record != nil {
			list = append(list, in.record(n, i))
			continue
		}
		key := fmt.Sprintf("user-%d-%d-%d", p, n, i)
		if in.keys != nil {
			key = in.keys[n*in.burst+i]
		}
		size := cmp.Or(in.size, eventBytes)
		list = append(list, records.Record{Key: []byte(key), Value: padded(in.value(n, i), size)})
	}
	if in.framing != (framing{}) {
		d.sendFramed(p, in.framing, list)
		return
	}
	d.Send(p, list...)
}

// taken reports whether all events of the input have been consumed.
func (d bubble) taken(in neighbour) bool {
	d.T.Helper()
	for p := range int32(in.partitions) {
		got, err := group.CommittedOffset(d.T.Context(), d.Client, "late", d.Env["ORIEL_INPUT_TOPIC"], p)
		if err != nil {
			d.T.Fatal(err)
		}
		if got < int64(bursts*in.burst) {
			return false
		}
	}
	return true
}

// byMoment sorts the lines of each moment, because goroutines may write them in any order.
func byMoment(log string) []string {
	lines := slices.Collect(strings.Lines(log))
	slices.SortStableFunc(lines, func(a, b string) int {
		timeA, _, _ := strings.Cut(a, " ")
		timeB, _, _ := strings.Cut(b, " ")
		if timeA != timeB {
			return strings.Compare(timeA, timeB)
		}
		return strings.Compare(a, b)
	})
	return lines
}

// seeTopic adds what an observer sees of a topic, including aborted records: the contents of decisions and of entries
// in order records, and the sizes of sealed records.
func (d bubble) seeTopic(seen *sight, topic string, p int32) {
	d.T.Helper()
	for _, r := range d.Read(topic, p, true) {
		line := fmt.Sprintf("%d at %v: key of %d, value of %d, %d headers", r.Offset, r.Timestamp, len(r.Key), len(r.Value),
			r.Headers.Len())
		switch {
		case strings.HasSuffix(topic, ".decisions"):
			decision, err := decision.AppendLine(nil, r.Value)
			if err != nil {
				d.T.Fatal(err)
			}
			line += " " + string(decision)
		case strings.HasSuffix(topic, ".order"):
			line += fmt.Sprint(" ", r.Value[1+16:len(r.Value)-16]) // the entries, which are between the input's id and the MAC
		}
		seen.see(fmt.Sprintf("%s/%d", topic, p), line)
	}
}
