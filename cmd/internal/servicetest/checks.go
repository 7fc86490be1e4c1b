package servicetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"oriel/cmd/internal/doctor"
	"oriel/pipeline/kafka/records"
	"oriel/schemas/decision"
)

// PageAddress returns the address of a service's pages, without a slash at the end.
func (f *Fixture) PageAddress(p *Process) string {
	f.T.Helper()
	found := regexp.MustCompile(`address=(127\.0\.0\.1:\d+)`).FindStringSubmatch(p.Output())
	if found == nil {
		f.T.Fatalf("the log does not say where the pages are: %s", p.Output())
	}
	return "http://" + found[1]
}

// Pages returns the contents of a service's pages for machines, concatenated.
func (f *Fixture) Pages(p *Process) string {
	f.T.Helper()
	address := f.PageAddress(p)
	var all strings.Builder
	for _, page := range []string{"metrics", "healthz", "readyz"} {
		r, err := http.Get(address + "/" + page)
		if err != nil {
			f.T.Fatal(err)
		}
		b, _ := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if r.StatusCode != http.StatusOK {
			f.T.Errorf("%s: status %d: %s", page, r.StatusCode, b)
		}
		all.Write(b)
	}
	return all.String()
}

// stream returns the name of the stream to which the events of a partition belong.
func (f *Setup) stream(p int32) string {
	if f.Env["ORIEL_STREAM"] == "topic" {
		return f.Env["ORIEL_INPUT_TOPIC"]
	}
	return strconv.Itoa(int(p))
}

// CheckHistory checks the decisions of a partition. No index may have two values, even among uncommitted decisions, and
// the committed decisions must be exactly 1, 2, …, steps, in order.
func (f *Setup) CheckHistory(p int32, steps int) {
	t := f.T
	t.Helper()
	type identity struct {
		incarnation [16]byte
		index       uint64
	}
	values := map[identity][]byte{}
	aborted := 0
	for _, r := range f.Read(f.Topic("decisions"), p, true) {
		d, err := decision.Parse(r.Value)
		if err != nil {
			t.Fatalf("partition %d offset %d: %v", p, r.Offset, err)
		}
		id := identity{d.Incarnation, d.Index}
		if earlier, seen := values[id]; seen {
			aborted++
			if !bytes.Equal(earlier, r.Value) {
				t.Errorf("partition %d index %d: two values", p, d.Index)
			}
		}
		values[id] = r.Value
	}
	committed := f.Read(f.Topic("decisions"), p, false)
	t.Logf("partition %d: %d decisions committed, %d seen again in other transactions", p, len(committed), aborted)
	if len(committed) != steps {
		t.Errorf("partition %d: %d decisions committed, want %d", p, len(committed), steps)
	}
	for i, r := range committed {
		if d, err := decision.Parse(r.Value); err != nil || d.Index != uint64(i+1) || d.Step != uint64(i+1) ||
			string(r.Key) != f.stream(p) {
			t.Fatalf("partition %d: place %d holds index %d", p, i, d.Index)
		}
	}
}

// Letters runs `oriel letters` until all due dead letters are written, and returns the dead letters of a partition.
func (f *Fixture) Letters(p int32) []records.Record {
	f.T.Helper()
	f.Must("letters", "--once")
	return f.Read(f.Topic("dead-letter"), p, false)
}

// LetterHeaders returns the headers of a dead letter that follow the headers of the bad record.
func LetterHeaders(letter records.Record) map[string]string {
	headers := map[string]string{}
	for _, h := range letter.Headers.List() {
		headers[h.Key] = string(h.Value)
	}
	return headers
}

// Reasons returns the place and the reason of each dead letter.
func Reasons(letters []records.Record) []string {
	var all []string
	for _, letter := range letters {
		h := LetterHeaders(letter)
		all = append(all, h["oriel-offset"]+" "+h["oriel-reason"])
	}
	return all
}

// Refused runs the service with changed settings. It checks that the service fails, prints each text of want once, and
// releases nothing. Doctor must find the same texts.
func (f *Fixture) Refused(more map[string]string, want ...string) {
	f.T.Helper()
	f.RefusedAtWork(more, want...)
	said := f.Examined(more)
	for _, text := range want {
		if !strings.Contains(said, text) {
			f.T.Errorf("doctor does not say %q: %s", text, said)
		}
	}
}

// RefusedAtWork is Refused for what only an event shows that was not taken, so that doctor cannot know it.
func (f *Fixture) RefusedAtWork(more map[string]string, want ...string) {
	f.T.Helper()
	before := len(f.Read(f.Topic("decisions"), 0, true))
	p := f.Start(more, "run")
	if p.Finish(40 * time.Second) {
		f.T.Fatalf("the service ended well; it said: %s", p.Output())
	}
	for _, text := range want {
		if !strings.Contains(p.Output(), text) {
			f.T.Errorf("the message does not say %q: %s", text, p.Output())
		}
	}
	if after := len(f.Read(f.Topic("decisions"), 0, true)); after != before {
		f.T.Errorf("%d decisions were released", after-before)
	}
}

// Examined returns the lines of doctor that say what is wrong with the deployment, with further settings.
func (f *Fixture) Examined(more map[string]string) string {
	f.T.Helper()
	h := Host()
	env := maps.Clone(f.Env)
	maps.Copy(env, more)
	h.Environ = nil // as for Child
	for name, value := range env {
		h.Environ = append(h.Environ, name+"="+value)
	}
	ctx, cancel := context.WithTimeout(f.Ctx(), time.Minute)
	defer cancel()
	var said, wrong strings.Builder
	_ = doctor.Examine(ctx, h, doctor.Options{Record: true, Patience: doctor.Patience}, &said) // its lines say it
	for line := range strings.Lines(said.String()) {
		if strings.HasPrefix(line, "wrong ") {
			wrong.WriteString(line)
		}
	}
	return wrong.String()
}

// Compares runs replay --check from a checkpoint, and checks that it compares this many decisions and finds them equal.
func (f *Fixture) Compares(checkpoint string, decisions int) {
	f.T.Helper()
	output := f.Must("replay", "--check", "--from", checkpoint)
	if !strings.Contains(output, fmt.Sprintf(": %d decisions compared, all equal", decisions)) {
		f.T.Errorf("%d decisions since the checkpoint, but replay --check says %q", decisions, output)
	}
}
