package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/program"
	"oriel/cmd/papers/internal/reproduce"
)

func reproduceCommand() *cobra.Command {
	var o reproduce.Options
	cmd := &cobra.Command{
		Use:   "reproduce [EXPERIMENT …] --out DIR [--short] [--seeds N]",
		Short: "Measure the claims of the papers' tables",
		Long: "Reproduce runs tables of the papers as experiments: streams that are synthetic, seeds that are numbered, so that the same call\n" +
			"gives the same figures anywhere. Of each it writes to a folder NAME.csv, every run at 1, 2, 5, 10, … steps; NAME.md, the table;\n" +
			"and NAME.svg. Runs that the folder has are not run again: a call that was ended goes on where it was, and more --seeds add to it.\n" +
			"Runs of another version are refused; a build without one cannot tell, so give it a new folder when code has changed.\n\n" +
			"It needs no broker and no settings. Experiments, all if none is named:\n\n" + listExperiments(),
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, names []string) error { return runReproduce(cmd, names, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.Folder, "out", "", "folder for tables and plots; made if it is missing")
	f.BoolVar(&o.Short, "short", false, "fewer steps and two seeds: seconds in place of minutes, and no figures to quote")
	f.IntVar(&o.Seeds, "seeds", 0, "runs of each row and column; 0: the experiment's own number")
	_ = cmd.MarkFlagRequired("out") // fails only if the flag does not exist
	return cmd
}

func listExperiments() string {
	var b strings.Builder
	for _, e := range reproduce.All {
		fmt.Fprintf(&b, "  %-10s %s: %d rows, %d seeds of %d steps\n", e.Name, e.Text, len(e.Rows), e.Seeds, e.Steps)
	}
	return b.String()
}

func runReproduce(cmd *cobra.Command, names []string, o reproduce.Options) error {
	if o.Folder == "" {
		return exit.WrongUse("--out: no folder")
	}
	if o.Seeds < 0 {
		return exit.WrongUse("--seeds: below 0")
	}
	if len(names) == 0 {
		names = reproduce.Names()
	}
	for _, name := range names {
		if !slices.Contains(reproduce.Names(), name) {
			return exit.WrongUse("%s: no such experiment; there are %s", name, strings.Join(reproduce.Names(), ", "))
		}
	}
	o.Version = program.Version()
	for _, name := range names {
		e, _ := reproduce.Find(name)
		bar := program.NewBar(cmd.ErrOrStderr(), -1, name, false)
		o.Progress = func(done, all int) {
			bar.ChangeMax(all)
			_ = bar.Set(done)
		}
		table, err := reproduce.Run(cmd.Context(), e, o)
		_ = bar.Finish()
		if err != nil {
			return err
		}
		files := filepath.Join(o.Folder, name+".*")
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\nwritten to %s\n", table, files); err != nil {
			return err
		}
	}
	return nil
}
