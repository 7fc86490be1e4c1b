package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := report(os.Stderr, root().ExecuteContext(ctx))
	stop()
	os.Exit(code)
}

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:           "oriel",
		Short:         "Public decisions from private Kafka streams, under window differential privacy",
		Long:          "Oriel reads events from Kafka, learns from them while they stream, and publishes decisions under window\ndifferential privacy: the newest W steps of each stream are protected, with finite loss at every age.\nSettings are environment variables; `oriel run --help` lists them.",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version(),
	}
	cmd.AddCommand(demoCommand(), runCommand(), topicsCommand(), produceCommand(), tailCommand(), featuresCommand(), replayCommand(),
		planCommand(), auditCommand())
	return cmd
}

// report prints each problem of a joined error on a line of its own, and returns the code that the process exits with.
func report(w io.Writer, err error) (code int) {
	if err == nil {
		return 0
	}
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) && len(joined.Unwrap()) > 1 && fmt.Sprint(err) == fmt.Sprint(errors.Join(joined.Unwrap()...)) {
		fmt.Fprintf(w, "oriel: %d problems\n", len(joined.Unwrap()))
		for _, e := range joined.Unwrap() {
			fmt.Fprintf(w, "  %v\n", e)
		}
		return 1
	}
	fmt.Fprintf(w, "oriel: %v\n", err)
	return 1
}
