package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/envfile"
	"oriel/cmd/internal/program"
	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/traps"
	"oriel/mechanisms/protection"
	"oriel/operators"
)

func configCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "config [--env-file FILE]",
		Short: "Show the settings in force, and check them",
		Long: "Config prints every setting with its value and whether it was given, as lines that --env-file takes, and checks them as\n" +
			"`oriel run` does before it connects to a broker: all problems at once, exit code 2. It then prints the promise of each stream.\n" +
			"It needs no brokers and opens no file of secrets.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, environ := cmd.OutOrStdout(), program.Environ(cmd.Context())
			printSettings(out, environ)
			if s, err := settings.Load(environ, settings.Events, settings.Operator); err == nil {
				traps.Warn(cmd.ErrOrStderr(), traps.Settings(s), traps.Overpaid(s), traps.Unseen(s))
			}
			_, _, g, err := host(cmd).Load(settings.Service)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(out, "\n"+
				"# Each stream: mechanism %s, window %s, %sepsilon %g, delta %g, adjacency %s, unit %s\n",
				g.Mechanism, windowText(g.Scope.Figures().Window), membersText(g.Members()),
				g.Epsilon, g.Delta, g.Unit.Adjacency(), g.Unit.Name())
			return err
		},
	}
}

// membersText formats the members of decisions, other than the window, that state the guarantee.
func membersText(members []protection.Member) string {
	text := ""
	for _, m := range members {
		text += m.Words + ", "
	}
	return text
}

// printSettings prints each variable on a line. A variable that is not set is printed as a comment with its default. Of
// the operators' settings, it prints only those of the configured operator.
func printSettings(out io.Writer, environ []string) {
	given := map[string]string{}
	for _, line := range environ {
		if name, value, ok := strings.Cut(line, "="); ok {
			given[name] = value
		}
	}
	for _, g := range settings.Groups() {
		if g.Operator != "" && g.Operator != given["ORIEL_OPERATOR"] {
			continue
		}
		if title := g.Title(); title != "" {
			fmt.Fprintf(out, "\n# %s\n", title)
		}
		for _, v := range g.Settings {
			name := operators.Prefix + v.Name
			if value, ok := given[name]; ok {
				fmt.Fprintf(out, "%s=%s\n", name, envfile.Quote(value))
			} else {
				fmt.Fprintf(out, "# %s=%s\n", name, v.Default)
			}
		}
	}
}
