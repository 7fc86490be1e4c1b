package program

import (
	"context"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"oriel/cmd/internal/exit"
	"oriel/schemas/text"
)

// Execute runs the command line and returns the process's exit code.
func Execute(ctx context.Context, cmd *cobra.Command) int {
	running := false
	onRun(cmd, func() { running = true })
	called, err := cmd.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	if !running { // cobra found an unknown, missing or conflicting command or flag
		err = exit.WrongUse("%s; `%s --help` lists its arguments", cut(err.Error()), called.CommandPath())
	}
	return exit.Report(cmd.ErrOrStderr(), cmd.Name(), err)
}

// argument matches what may be an argument in a message of cobra: a quoted text, or a long word.
var argument = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\S{65,}`)

// cut shortens the arguments that a message of cobra repeats in full.
func cut(message string) string {
	return argument.ReplaceAllStringFunc(message, func(found string) string {
		if plain, err := strconv.Unquote(found); err == nil {
			found = plain
		}
		return text.Shown([]byte(found))
	})
}

// onRun makes all commands below cmd call started before they run.
func onRun(cmd *cobra.Command, started func()) {
	for _, c := range cmd.Commands() {
		onRun(c, started)
		if work := c.RunE; work != nil {
			c.RunE = func(cmd *cobra.Command, args []string) error {
				started()
				return work(cmd, args)
			}
		}
	}
}

// environKey is the key of a context's environment.
type environKey struct{}

// WithEnviron returns a context for commands that must read this environment, and not the environment of the process.
// With it, tests run several commands side by side in one process.
func WithEnviron(ctx context.Context, environ []string) context.Context {
	return context.WithValue(ctx, environKey{}, environ)
}

// Environ returns the environment of a command with this context, in the form of os.Environ.
func Environ(ctx context.Context) []string {
	if environ, ok := ctx.Value(environKey{}).([]string); ok {
		return environ
	}
	return os.Environ()
}

// Version returns the commit that the binary was built from, or the module's version.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return s.Value[:12]
		}
	}
	return info.Main.Version
}

// NewBar returns a progress bar, which is visible only on a terminal. total is −1 if it is not known. If bytes is true,
// the bar counts bytes, otherwise items.
func NewBar(w io.Writer, total int64, what string, bytes bool) *progressbar.ProgressBar {
	if !IsTerminal(w) {
		w = io.Discard
	}
	return progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowBytes(bytes),
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSpinnerType(14),
		// the bar must start no goroutine, because the goroutine would read the bar's state without a lock
		progressbar.OptionSetSpinnerChangeInterval(0),
	)
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Interruption returns a context that is cancelled when the process gets SIGINT or SIGTERM. Another signal within a
// second counts as the same request, because timeout(1) and some supervisors signal a process and then its group. A
// later signal ends the process at once. Therefore the process must receive signals until it exits.
func Interruption() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, stop) })
	return ctx
}
