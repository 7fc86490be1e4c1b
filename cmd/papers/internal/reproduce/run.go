package reproduce

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Options configures a run of an experiment.
type Options struct {
	Folder  string // folder for the files
	Short   bool   // short form: fewer steps, and two seeds
	Seeds   int    // number of seeds; 0: the experiment's own number
	Version string // version of the program; cells of another version are refused

	// Progress, if not nil, is called with the number of finished cells and the number of all cells.
	Progress func(done, all int)
}

// shortSeeds is the number of seeds in the short form. Two seeds are enough to test the computation of means.
const shortSeeds = 2

// extent returns the number of steps of a run and the number of seeds.
func (o Options) extent(e Experiment) (steps uint64, seeds int) {
	steps, seeds = e.Steps, e.Seeds
	if o.Short {
		steps, seeds = e.Short, min(seeds, shortSeeds)
	}
	if o.Seeds > 0 {
		seeds = o.Seeds
	}
	return steps, seeds
}

// Run runs the cells that are not in the folder yet, writes the table and the plot, and returns the table. If it is
// interrupted, the finished cells stay in the folder.
func Run(ctx context.Context, e Experiment, o Options) (string, error) {
	steps, seeds := o.extent(e)
	f := folder{path: o.Folder, experiment: e, version: o.Version}
	found, err := f.load(steps)
	if err != nil {
		return "", fmt.Errorf("reproduce: %w", err)
	}
	cells := e.cells(steps, seeds)
	for i, c := range cells {
		if o.Progress != nil {
			o.Progress(i, len(cells))
		}
		if found[c] != nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return "", err
		}
		curve, err := e.Play(ctx, c)
		if err != nil {
			return "", fmt.Errorf("reproduce: %s, %s, seed %d: %w", e.Rows[c.Row].Name, e.Columns[c.Column].Name, c.Seed, err)
		}
		if err := f.add(c, curve); err != nil {
			return "", fmt.Errorf("reproduce: %w", err)
		}
		found[c] = curve
	}
	r := report{Experiment: e, steps: steps, seeds: seeds, results: found}
	table := r.markdown()
	if err := os.WriteFile(filepath.Join(o.Folder, e.Name+".md"), []byte(table), 0o644); err != nil {
		return "", fmt.Errorf("reproduce: %w", err)
	}
	if err := r.slide().Save(filepath.Join(o.Folder, e.Name+".svg")); err != nil {
		return "", fmt.Errorf("reproduce: %w", err)
	}
	return table, nil
}
