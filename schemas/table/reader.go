package table

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"oriel/schemas/event"
	"oriel/schemas/mapping"
	"oriel/schemas/text"
)

// Row is one event. Its slices are valid until the next call of Next.
type Row struct {
	Partition string // cell of column PartitionBy; empty without the column
	Key       []byte // cell of column Key; nil without the column, or if the cell is missing
	Event     []byte // the event as one line of JSON, without line end
}

// Reader returns the rows of a table as events.
type Reader struct {
	source *source
	sorted *sorted // all rows, sorted; nil: rows are streamed
	event  []byte
}

// Open reads the first line, which names the columns, and, if the mapping sorts, all other lines. It skips a byte order
// mark at the start.
func (m Mapping) Open(r io.Reader) (*Reader, error) {
	p, err := m.compile()
	if err != nil {
		return nil, err
	}
	s, err := newSource(m, p, r)
	if err != nil {
		return nil, err
	}
	reader := &Reader{source: s}
	if len(p.Sort) > 0 {
		if reader.sorted, err = readSorted(s); err != nil {
			return nil, err
		}
	}
	return reader, nil
}

// Next returns the next row that meets the conditions of where, or io.EOF. After any other error the reader must not be
// used.
func (r *Reader) Next() (Row, error) {
	if r.sorted != nil {
		return r.sorted.next()
	}
	var row []string
	var err error
	if r.event, row, err = r.source.next(r.event[:0]); err != nil {
		return Row{}, err
	}
	next := Row{Event: r.event, Partition: cell(row, r.source.partition)}
	if key := cell(row, r.source.key); !r.source.cells.has(key) {
		next.Key = []byte(key)
	}
	return next, nil
}

// source reads the lines that meet the conditions of where. Positions of columns that the mapping does not use are −1.
type source struct {
	csv       *csv.Reader
	header    []string
	plan      plan
	where     []int // columns of plan.where
	cells     *cells
	events    *mapping.Decoder // makes events; nil: rows themselves are the output
	event     event.Event
	partition int
	key       int
	sort      []int
}

// maxListed bounds the columns that a message names.
const maxListed = 50

// listed names the columns of a table.
func listed(header []string) string {
	names := make([]string, 0, maxListed)
	for _, name := range header[:min(len(header), maxListed)] {
		names = append(names, text.Shown([]byte(name)))
	}
	more := ""
	if n := len(header) - len(names); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, ", ") + more
}

func newSource(m Mapping, p plan, r io.Reader) (*source, error) {
	buffered := bufio.NewReaderSize(r, 1<<16)
	if mark, err := buffered.Peek(3); err == nil && string(mark) == "\uFEFF" {
		if _, err := buffered.Discard(3); err != nil {
			return nil, fmt.Errorf("table: line 1: %w", err)
		}
	}
	s := &source{csv: csv.NewReader(buffered), plan: p, cells: &cells{missing: m.Missing}}
	s.csv.ReuseRecord = true
	if m.Comma != 0 {
		s.csv.Comma = m.Comma
	}
	header, err := s.csv.Read()
	if err == io.EOF {
		return nil, errors.New("table: the file is empty, so columns have no names: line 1 must name them")
	}
	if err != nil {
		return nil, csvError(err)
	}
	for _, name := range header {
		s.header = append(s.header, strings.Clone(name))
	}
	return s, s.find(m)
}

// find finds the columns that the mapping names.
func (s *source) find(m Mapping) error {
	columns, twice := map[string]int{}, map[string]bool{}
	for k, name := range s.header {
		_, twice[name] = columns[name]
		columns[name] = k
	}
	var errs []error
	hint := ""
	if len(s.header) == 1 {
		hint = fmt.Sprintf("; the first line has one column, so %s may be wrong", m.called("comma"))
	}
	hint += "; there are " + listed(s.header)
	find := func(member string, path mapping.Path) int {
		k, found := column(path, columns)
		switch {
		case !found:
			errs = append(errs, fmt.Errorf("table: %s: no column %q%s", member, path[0], hint))
		case twice[path[0]]:
			errs = append(errs, fmt.Errorf("table: %s: several columns %q", member, path[0]))
		case !utf8.ValidString(path[0]):
			errs = append(errs, fmt.Errorf("table: %s: a column name is not UTF-8", member))
		}
		return k
	}
	named := func(member, name string) int {
		if name == "" {
			return -1
		}
		return find(m.called(member), mapping.Path{name})
	}
	if s.plan.events != nil {
		for _, path := range s.plan.events.Paths() {
			s.cells.columns = append(s.cells.columns, find(s.plan.events.Asks(path), path))
		}
		events, err := mapping.NewDecoder(s.plan.events, s.cells)
		if err != nil {
			return err
		}
		s.events = events
	} else {
		for i := range s.plan.where {
			s.where = append(s.where, find(m.called("where"), s.plan.where[i].Path))
		}
		for _, name := range s.header {
			find("the first line", mapping.Path{name})
		}
	}
	s.partition, s.key = named("partition_by", s.plan.PartitionBy), named("key", s.plan.Key)
	for _, name := range s.plan.Sort {
		s.sort = append(s.sort, named("sort", name))
	}
	return errors.Join(errs...)
}

// next appends the event of the next line that meets the conditions of where, and returns the line's cells, which are
// valid until the next call.
func (s *source) next(dst []byte) (event []byte, row []string, err error) {
	for {
		row, err := s.csv.Read()
		if err == io.EOF {
			return dst, nil, io.EOF
		}
		if err != nil {
			return dst, nil, csvError(err)
		}
		s.cells.row = row
		if s.events == nil {
			if !s.keeps(row) {
				continue
			}
			event, ok := s.whole(dst, row)
			if !ok {
				return dst, nil, s.lineError("a cell is not UTF-8")
			}
			return event, row, nil
		}
		switch code := s.events.Decode(&s.event, oneByte); code {
		case text.OK:
			return s.events.AppendOwn(dst), row, nil
		case text.Filtered:
		default:
			return dst, nil, s.lineError(s.events.Problem(nil, code))
		}
	}
}

// oneByte is a record whose bytes are never read.
var oneByte = []byte{'\n'}

// keeps reports whether a row meets the conditions of where.
func (s *source) keeps(row []string) bool {
	for i, column := range s.where {
		v := mapping.Value{Kind: mapping.Text, Text: []byte(row[column])}
		if s.cells.has(row[column]) {
			v = mapping.Value{}
		}
		if !s.plan.where[i].Holds(&v) {
			return false
		}
	}
	return true
}

// lineError names the last line and the rule that it breaks, never its content.
func (s *source) lineError(fault string) error {
	line, _ := s.csv.FieldPos(0)
	return fmt.Errorf("table: line %d: %s", line, fault)
}

func cell(row []string, column int) string {
	if column < 0 {
		return ""
	}
	return row[column]
}

// csvError replaces the text of an error of encoding/csv by the position and a text of this package; an error of the
// file itself is unchanged.
func csvError(err error) error {
	var parse *csv.ParseError
	if !errors.As(err, &parse) {
		return fmt.Errorf("table: reading: %w", err)
	}
	if errors.Is(err, csv.ErrFieldCount) {
		return fmt.Errorf("table: line %d: not as many cells as the first line has", parse.Line)
	}
	return fmt.Errorf("table: line %d: quotes that are not CSV (RFC 4180)", parse.Line)
}
