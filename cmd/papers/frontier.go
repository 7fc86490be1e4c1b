package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/figure"
	"oriel/cmd/papers/internal/frontier"
)

func frontierCommand() *cobra.Command {
	var window uint64
	var poles int
	var weight float64
	var plot string
	cmd := &cobra.Command{
		Use:   "frontier [--window STEPS] [--poles 2|3|4] [--age-weight WEIGHT] [--plot FILE.svg|FILE.png]",
		Short: "See the certified variance of the filters of blt",
		Long: "Frontier prints the variance of the filters of blt for windows and numbers of poles, beside the optimum and the tree; and for\n" +
			"one window the compromises between variance and the growth of the loss with age (ORIEL_AGE_WEIGHT). It reads no settings.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if plot != "" {
				if err := figure.CheckFile(plot); err != nil {
					return exit.WrongUse("--plot: %w", err)
				}
			}
			f, err := frontier.New(window, poles, weight)
			if err != nil {
				return exit.WrongUse("%w", err)
			}
			if plot != "" {
				if err := f.Slide().Save(plot); err != nil {
					return fmt.Errorf("--plot: %w", err)
				}
			}
			return f.Print(cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.Uint64Var(&window, "window", 1024, "window of the compromises, in steps")
	f.IntVar(&poles, "poles", 0, "number of poles of the compromises; 0: the best number for each")
	f.Float64Var(&weight, "age-weight", 0, "mark this age weight, and add it to the compromises")
	f.StringVar(&plot, "plot", "", "draw both tables to a file, .svg or .png")
	return cmd
}
