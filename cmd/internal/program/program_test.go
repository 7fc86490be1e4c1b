package program

import (
	"context"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/exit"
)

// TestLongArgumentsAreCut checks that a message repeats the start of an argument alone, whatever cobra finds wrong with
// it, and repeats short arguments as they are.
func TestLongArgumentsAreCut(t *testing.T) {
	long := strings.Repeat("9", 400)
	for _, c := range []struct{ argument, want string }{
		{"--rate=" + long, `invalid argument "` + long[:64] + `…" for "--rate" flag: `},
		{"--rate=" + strings.Repeat("9 ", 200), `invalid argument "9 9 `},
		{"--rate=1\"x\n", `invalid argument "1\"x\n" for "--rate" flag: `},
		{"--" + long, `unknown flag: "--` + long[:62] + `…"; `},
		{long, `unknown command "` + long[:64] + `…" for "p"; `},
		{"--no-such", "unknown flag: --no-such; "},
	} {
		var said strings.Builder
		var rate float64
		cmd := &cobra.Command{
			Use: "p", Args: cobra.NoArgs, SilenceErrors: true, SilenceUsage: true,
			RunE: func(*cobra.Command, []string) error { return nil },
		}
		Var(cmd.Flags(), &rate, "rate", 1, "rate")
		cmd.SetErr(&said)
		cmd.SetArgs([]string{c.argument})
		if code := Execute(context.Background(), cmd); code != exit.Misuse || !strings.Contains(said.String(), c.want) ||
			len(said.String()) > 300 {
			t.Errorf("%.20s: code %d, said %s", c.argument, code, said.String())
		}
	}
}
