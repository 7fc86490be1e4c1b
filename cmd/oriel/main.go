package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

func main() {
	os.Exit(execute(interruption(), root()))
}

// interruption is done when the process is told to end. A signal that comes a second later or more ends the process at
// once; one before that is the same: timeout(1) and others signal a process and then its group, and mean one. So
// signals are heard to the very end.
func interruption() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, stop) })
	return ctx
}

func root() *cobra.Command {
	var envFile string
	cmd := &cobra.Command{
		Use:   "oriel",
		Short: "Public decisions from private Kafka streams, under window differential privacy",
		Long: "Oriel reads events from Kafka, learns from them while they stream, and publishes decisions under window\n" +
			"differential privacy: the newest W steps of each stream are protected, with finite loss at every age.\n" +
			"Settings are environment variables; `oriel run --help` lists them, `oriel config` shows those in force.\n\n" +
			"Exit codes: 0 done, 1 failed, 2 the call or the settings are wrong.",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version(),
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return readEnvFile(envFile)
		},
	}
	cmd.PersistentFlags().StringVar(&envFile, "env-file", "",
		"read settings from a file of lines NAME=value, where the environment does not have them; quotes are those of a shell")
	cmd.AddCommand(demoCommand(), keyCommand(), configCommand(), runCommand(), lettersCommand(), topicsCommand(),
		produceCommand(), tailCommand(), featuresCommand(), schemaCommand(), replayCommand(), evalCommand(),
		planCommand(), auditCommand(), reproduceCommand(), versionCommand())
	return cmd
}
