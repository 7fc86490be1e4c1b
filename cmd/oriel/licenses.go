package main

import (
	"io"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/licenses"
)

func licensesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "licenses", Short: "Print the licences of the software in this binary",
		Long: "Licenses prints the licence and notices of each module that this binary contains.", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), licenses.Notice)
			return err
		},
	}
}
