package reproduce

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// header is the header of a file of cells. Each line is a point of a curve, and the lines of a cell are consecutive.
var header = []string{"version", "row", "column", "seed", "step", "value"}

// results maps finished cells of an experiment to their curves.
type results map[Cell][]Point

// folder keeps the finished cells of an experiment as CSV.
type folder struct {
	path       string
	experiment Experiment
	version    string // version of the program; results of another version are refused
}

func (f folder) file() string { return filepath.Join(f.path, f.experiment.Name+".csv") }

// errOther reports a file whose cells come from another version of the code, or from another form of the experiment.
var errOther = errors.New("its cells are of another version, of another length, or not whole: choose another folder, or remove the file")

// load returns the cells of the folder, and creates the folder's file if there is none. It removes lines after the last
// complete cell, which a killed program may have left.
func (f folder) load(steps uint64) (results, error) {
	if err := os.MkdirAll(f.path, 0o755); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(f.file())
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(data) == 0 {
		var b bytes.Buffer
		err := writeAll(&b, [][]string{header})
		return results{}, errors.Join(err, os.WriteFile(f.file(), b.Bytes(), 0o644))
	}
	if err != nil {
		return nil, err
	}
	found, whole, err := f.read(data, steps)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.file(), err)
	}
	if whole < int64(len(data)) {
		err = os.Truncate(f.file(), whole)
	}
	return found, err
}

// read returns the complete cells of a file, and the length of their lines, bytes.
func (f folder) read(data []byte, steps uint64) (found results, whole int64, err error) {
	found = results{}
	data = data[:bytes.LastIndexByte(data, '\n')+1] // drops an incomplete last line
	in := csv.NewReader(bytes.NewReader(data))
	first, err := in.Read()
	if err != nil || !slices.Equal(first, header) {
		return nil, 0, errors.New("not a file of cells")
	}
	whole = in.InputOffset()
	marks := Marks(steps)
	var curve []Point
	var now Cell
	for {
		line, err := in.Read()
		if errors.Is(err, io.EOF) {
			return found, whole, nil
		}
		if err != nil {
			return nil, 0, err
		}
		cell, point, err := f.parse(line, steps)
		switch {
		case err != nil:
			return nil, 0, err
		case len(curve) > 0 && cell != now || point.Step != marks[len(curve)]:
			return nil, 0, errOther
		}
		if now, curve = cell, append(curve, point); len(curve) == len(marks) {
			found[cell], curve, whole = curve, nil, in.InputOffset()
		}
	}
}

func (f folder) parse(line []string, steps uint64) (Cell, Point, error) {
	row := slices.IndexFunc(f.experiment.Rows, func(r Row) bool { return r.Name == line[1] })
	column := slices.IndexFunc(f.experiment.Columns, func(c Column) bool { return c.Name == line[2] })
	seed, errSeed := strconv.Atoi(line[3])
	step, errStep := strconv.ParseUint(line[4], 10, 64)
	value, errValue := strconv.ParseFloat(line[5], 64)
	if line[0] != f.version || row < 0 || column < 0 || seed < 1 {
		return Cell{}, Point{}, errOther
	}
	return Cell{Row: row, Column: column, Seed: seed, Steps: steps}, Point{Step: step, Value: value},
		errors.Join(errSeed, errStep, errValue)
}

// add appends a finished cell in one write, and rounds the curve's values as the file does.
func (f folder) add(c Cell, curve []Point) error {
	lines := make([][]string, len(curve))
	for i, p := range curve {
		curve[i].Value, _ = strconv.ParseFloat(written(p.Value), 64) // text from written always parses
		lines[i] = []string{
			f.version, f.experiment.Rows[c.Row].Name, f.experiment.Columns[c.Column].Name,
			strconv.Itoa(c.Seed), strconv.FormatUint(p.Step, 10), written(p.Value),
		}
	}
	var b bytes.Buffer
	if err := writeAll(&b, lines); err != nil {
		return err
	}
	file, err := os.OpenFile(f.file(), os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(b.Bytes())
	return errors.Join(err, file.Close())
}

// written formats a value as the file stores it.
func written(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

func writeAll(w io.Writer, lines [][]string) error {
	out := csv.NewWriter(w)
	return errors.Join(out.WriteAll(lines), out.Error())
}
