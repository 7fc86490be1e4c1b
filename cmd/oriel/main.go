package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := execute(ctx, root())
	stop()
	os.Exit(code)
}

func root() *cobra.Command {
	var envFile string
	cmd := &cobra.Command{
		Use:           "oriel",
		Short:         "Public decisions from private Kafka streams, under window differential privacy",
		Long:          "Oriel reads events from Kafka, learns from them while they stream, and publishes decisions under window\ndifferential privacy: the newest W steps of each stream are protected, with finite loss at every age.\nSettings are environment variables; `oriel run --help` lists them, `oriel config` shows those in force.\n\nExit codes: 0 done, 1 failed, 2 the call or the settings are wrong.",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version(),
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return readEnvFile(envFile)
		},
	}
	cmd.PersistentFlags().StringVar(&envFile, "env-file", "", "read settings from a file of lines NAME=value, where the environment does not have them")
	cmd.AddCommand(demoCommand(), keyCommand(), configCommand(), runCommand(), lettersCommand(), topicsCommand(), produceCommand(), tailCommand(), featuresCommand(), replayCommand(),
		planCommand(), auditCommand())
	return cmd
}
