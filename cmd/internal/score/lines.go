package score

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"oriel/schemas/event"
	"oriel/schemas/text"
)

// Asked says how events are encoded, and which stream's model scores them.
type Asked struct {
	Decoder event.Decoder
	Longest int    // longest event, bytes
	Stream  string // stream whose model scores; "": the only one, or the one that the record key decides
	Keyed   bool   // each line is the record key of the event, a tab, and the event
}

// Lines writes an answer to each line before it reads the next line. The answer to an invalid line is an error that
// names the rule, without contents of the line. If there were invalid lines, Lines returns an error at the end.
func (m *Models) Lines(in io.Reader, out io.Writer, a Asked) error {
	longest := a.Longest
	if a.Keyed {
		longest += longestKey
	}
	lines, w := text.NewLines(in, longest), bufio.NewWriter(out)
	var answer []byte
	bad := 0
	for total := 0; ; total++ {
		if !lines.Ready() {
			if err := w.Flush(); err != nil {
				return err
			}
		}
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			if bad > 0 {
				return fmt.Errorf("%d of %d lines have no score", bad, total)
			}
			return nil
		}
		if err != nil {
			return err
		}
		event, key := line.Value, []byte(nil)
		if a.Keyed {
			key, event, _ = bytes.Cut(line.Value, []byte("\t"))
		}
		var problem string
		answer, problem = m.appendScored(answer[:0], a.Decoder, event, a.Stream, key)
		if problem != "" {
			bad++
		}
		if _, err := w.Write(append(answer, '\n')); err != nil {
			return err
		}
	}
}

// longestKey bounds the length of a record key, which ends with a tab.
const longestKey = 64 << 10

// appendScored appends the answer to an event; problem says why the event has no score.
func (m *Models) appendScored(
	dst []byte, decoder event.Decoder, line []byte, stream string, key []byte,
) (answer []byte, problem string) {
	model, err := m.Of(stream, key)
	if err != nil {
		return appendProblem(dst, err.Error()), err.Error()
	}
	var e event.Event
	if code := decoder.Decode(&e, line); code != text.OK {
		return appendProblem(dst, code.String()), code.String()
	}
	return m.AppendAnswer(dst, model, e.Vector, time.Now()), ""
}
