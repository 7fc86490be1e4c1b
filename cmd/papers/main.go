package main

import (
	"os"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/program"
)

func main() { os.Exit(program.Execute(program.Interruption(), root())) }

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "papers",
		Short: "Tables of papers, measured",
		Long: "Papers measures the claims of papers, with the operators of oriel and with the algorithms that papers compare them with.\n" +
			"It protects nobody: everybody can compute the keys of its runs.\n\n" +
			"Exit codes: 0 done, 1 failed, 2 the call is wrong.",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       program.Version(),
	}
	cmd.AddCommand(reproduceCommand(), planCommand(), frontierCommand())
	return cmd
}
