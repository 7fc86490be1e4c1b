package table

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"oriel/schemas"
)

// Row is one event. Its slices are valid until the next Next.
type Row struct {
	Partition string // cell of PartitionBy; empty without
	Key       []byte // cell of Key; nil without, or if missing
	Event     []byte // JSON, one line without line end
}

// Reader returns the rows of a table as events.
type Reader struct {
	source *source
	sorted *sorted // nil: rows are streamed
	event  []byte
}

// Open reads the first line, which names the columns, and, if the mapping sorts, all the rest. A byte order mark in
// front is skipped.
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
	if len(m.Sort) > 0 {
		if reader.sorted, err = readSorted(s); err != nil {
			return nil, err
		}
	}
	return reader, nil
}

// Next returns the next row that where keeps, or io.EOF. After another error the reader is of no use.
func (r *Reader) Next() (Row, error) {
	if r.sorted != nil {
		return r.sorted.next()
	}
	cells, err := r.source.next()
	if err != nil {
		return Row{}, err
	}
	if r.event, err = r.source.appendEvent(r.event[:0], cells); err != nil {
		return Row{}, err
	}
	row := Row{Event: r.event, Partition: cell(cells, r.source.partition)}
	if key := cell(cells, r.source.key); !missing(key) {
		row.Key = []byte(key)
	}
	return row, nil
}

// source reads the lines that where keeps. A column that the mapping does not use is −1.
type source struct {
	csv       *csv.Reader
	mapping   Mapping
	plan      plan
	where     int
	label     int
	features  []int
	members   [][]int  // of each member its columns
	names     [][]byte // of the features, as JSON strings with colon
	partition int
	key       int
	sort      []int
	sortNames []string
}

// mostListed is how many columns a message names.
const mostListed = 50

// listed names the columns of a table.
func listed(header []string) string {
	names := make([]string, 0, mostListed)
	for _, name := range header[:min(len(header), mostListed)] {
		names = append(names, schemas.Shown([]byte(name)))
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
	s := &source{csv: csv.NewReader(buffered), mapping: m, plan: p}
	s.csv.ReuseRecord = true
	if m.Comma != 0 {
		s.csv.Comma = m.Comma
	}
	header, err := s.csv.Read()
	if err == io.EOF {
		return nil, errors.New("table: line 1: there is none, so columns have no names")
	}
	if err != nil {
		return nil, csvError(err)
	}
	columns := map[string]int{}
	for k, name := range header {
		if _, twice := columns[name]; twice {
			k = -2
		}
		columns[strings.Clone(name)] = k
	}
	var errs []error
	hint := ""
	if len(header) == 1 {
		hint = fmt.Sprintf("; the first line has one column, so %s may be wrong", m.called("comma"))
	}
	hint += "; there are " + listed(header)
	find := func(rule, name string) int {
		if name == "" {
			return -1
		}
		k, found := columns[name]
		if !found {
			errs = append(errs, fmt.Errorf("table: %s: no column %q%s", m.called(rule), name, hint))
		} else if k < 0 {
			errs = append(errs, fmt.Errorf("table: %s: several columns %q", m.called(rule), name))
		}
		return k
	}
	s.where = -1
	if p.where != nil {
		s.where = find("where", p.where.column)
	}
	if p.label != nil {
		s.label = find("label", p.label.column)
	} else {
		s.label = find("label", p.column)
	}
	if m.Whole {
		for _, name := range header {
			s.plan.features = append(s.plan.features, feature{column: strings.Clone(name)})
		}
		p = s.plan
	}
	for _, f := range p.features {
		s.features = append(s.features, find("features", f.column))
		name, ok := appendJSONString(nil, f.column)
		if !ok {
			errs = append(errs, fmt.Errorf("table: %s: a column name is not UTF-8", m.called("features")))
		}
		s.names = append(s.names, append(name, ':'))
	}
	for _, member := range p.members {
		var of []int
		for _, column := range member.columns {
			of = append(of, find("members", column))
		}
		s.members = append(s.members, of)
	}
	s.partition = find("partition_by", m.PartitionBy)
	s.key = find("key", m.Key)
	s.sortNames = m.Sort
	for _, name := range m.Sort {
		s.sort = append(s.sort, find("sort", name))
	}
	return s, errors.Join(errs...)
}

// next returns the cells of the next line that where keeps; they are valid until the next call.
func (s *source) next() ([]string, error) {
	for {
		cells, err := s.csv.Read()
		if err == io.EOF {
			return nil, io.EOF
		}
		if err != nil {
			return nil, csvError(err)
		}
		if s.where < 0 || s.plan.where.holds(cells[s.where]) {
			return cells, nil
		}
	}
}

func cell(cells []string, column int) string {
	if column < 0 {
		return ""
	}
	return cells[column]
}

// csvError puts the place and our own words in place of those of encoding/csv; an error of the file itself stays.
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
