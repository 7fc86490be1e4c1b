package text

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Line is one record of an NDJSON file.
type Line struct {
	Number int64  // number of the line from 0, used as the record's offset
	Value  []byte // without line end; a longer line is cut one byte after the limit. Valid until the next Next.
	Length int64  // length of the full line without its line end, bytes
}

// Lines reads NDJSON: each line ended by \n is one record, an empty line is an empty value, and a last line without \n
// counts. \r is an ordinary byte (white space to JSON). For lines of any length, memory stays within the limit plus a
// fixed buffer.
type Lines struct {
	reader *bufio.Reader
	limit  int
	kept   []byte // the current line, cut one byte after the limit
	next   int64
}

// NewLines reads from r. maxBytes must equal event.Config.MaxBytes, so that Decode returns TooLarge exactly for the
// lines that were cut.
func NewLines(r io.Reader, maxBytes int) *Lines {
	return &Lines{reader: bufio.NewReaderSize(r, 1<<16), limit: maxBytes}
}

// Ready reports whether Next has a whole line without waiting for the reader.
func (l *Lines) Ready() bool {
	waiting, _ := l.reader.Peek(l.reader.Buffered())
	return bytes.IndexByte(waiting, '\n') >= 0
}

// All iterates over the lines that Next returns. If the reader fails, the last element is the reader's error, with an
// empty line.
func (l *Lines) All() iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for {
			line, err := l.Next()
			if errors.Is(err, io.EOF) || !yield(line, err) || err != nil {
				return
			}
		}
	}
}

// Next returns the next line, io.EOF after the last one, or an error of the reader. Next does not return a line that
// the error cuts.
func (l *Lines) Next() (Line, error) {
	line := Line{Number: l.next}
	l.kept = l.kept[:0]
	for {
		part, err := l.reader.ReadSlice('\n')
		if err == nil {
			part = part[:len(part)-1]
		}
		line.Length += int64(len(part))
		l.kept = append(l.kept, part[:min(len(part), l.limit+1-len(l.kept))]...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == io.EOF && line.Length == 0:
			return Line{}, io.EOF
		case err != nil && err != io.EOF:
			return Line{}, fmt.Errorf("schemas: line %d: %w", l.next+1, err)
		}
		l.next++
		line.Value = l.kept
		return line, nil
	}
}

// Answer writes an answer to each line before it waits for the next line. It returns how many lines there were, and to
// how many of them answer reports a problem.
func (l *Lines) Answer(
	out io.Writer, answer func(dst []byte, line Line) (answered []byte, ok bool),
) (total, bad int, err error) {
	w := bufio.NewWriter(out)
	var answered []byte
	for ; ; total++ {
		if !l.Ready() {
			if err := w.Flush(); err != nil {
				return total, bad, err
			}
		}
		line, err := l.Next()
		if errors.Is(err, io.EOF) {
			return total, bad, nil
		}
		if err != nil {
			return total, bad, err
		}
		var ok bool
		if answered, ok = answer(answered[:0], line); !ok {
			bad++
		}
		if _, err := w.Write(append(answered, '\n')); err != nil {
			return total, bad, err
		}
	}
}
