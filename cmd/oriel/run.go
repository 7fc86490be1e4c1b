package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/service"
	"oriel/cmd/internal/settings"
	"oriel/operators"
)

func runCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "run",
		Short: "Run the service: events in, decisions out",
		Long: "Run takes its share of the input's partitions, restores or opens their streams, and commits decisions until it is\n" +
			"told to stop (SIGTERM). `oriel topics` must have run with the same settings before.\n\n" +
			"Settings:\n" + settingsHelp(),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h := host(cmd)
			if err := h.Tune(); err != nil {
				return err
			}
			return service.Run(cmd.Context(), h)
		},
	}
}

func settingsHelp() string {
	var b strings.Builder
	for _, g := range settings.Groups() {
		if title := g.Title(); title != "" {
			fmt.Fprintf(&b, "\n%s\n", title)
		}
		w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
		for _, v := range g.Settings {
			fmt.Fprintf(w, "  %s%s\t%s\t%s\t%s\n\t  %s\n",
				operators.Prefix, v.Name, v.Unit, v.Limits(), v.Initial(), v.Text)
		}
		_ = w.Flush()
	}
	return b.String()
}
