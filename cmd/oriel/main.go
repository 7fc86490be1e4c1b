package main

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/demo"
	"oriel/cmd/internal/envfile"
	"oriel/cmd/internal/flights"
	"oriel/cmd/internal/program"
	"oriel/cmd/internal/service"
	"oriel/cmd/internal/service/coredumps"
	"oriel/cmd/internal/settings"
)

func main() { os.Exit(program.Execute(program.Interruption(), root())) }

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
			if err := coredumps.Forbid(); err != nil {
				return err
			}
			return envfile.Read(envFile)
		},
	}
	cmd.PersistentFlags().StringVar(&envFile, "env-file", "",
		"read settings from a file of lines NAME=value, where the environment does not have them; quotes work as in a shell")
	cmd.AddCommand(demoCommand(), keyCommand(), configCommand(), runCommand(), orderCommand(), lettersCommand(),
		endCommand(), topicsCommand(), tailCommand(), schemaCommand(),
		replayCommand(), evalCommand(),
		planCommand(), initCommand(), doctorCommand(), mapCommand(), auditCommand(), scoreCommand(), weightsCommand(),
		numbersCommand(), experimentCommand(), licensesCommand(), versionCommand())
	checkSettings(cmd)
	return cmd
}

// Commands that load the settings that they need, and report all problems of these together; and commands that are
// about the program itself.
var (
	loadSettings = []string{
		"config", "run", "order", "letters", "end", "topics", "replay", "eval", "plan", "doctor", "audit", "experiment",
	}
	needNoSettings = []string{"licenses", "version"}
)

// checkSettings makes all other commands refuse an environment with a setting that does not exist or has no possible
// value. A setting that a command does not use may be the one that a user believes to be in force.
func checkSettings(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		checkSettings(c)
		name, work := strings.Fields(c.CommandPath())[1], c.RunE
		if work == nil || slices.Contains(loadSettings, name) || slices.Contains(needNoSettings, name) {
			continue
		}
		c.RunE = func(cmd *cobra.Command, args []string) error {
			if _, err := settings.Load(program.Environ(cmd.Context())); err != nil {
				return err
			}
			return work(cmd, args)
		}
	}
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Long: "Version prints the same line as --version.", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "oriel version", version())
			return err
		},
	}
}

// host returns the computer as a command sees it.
func host(cmd *cobra.Command) service.Host {
	h := service.ThisHost(version())
	h.Environ, h.Stderr = program.Environ(cmd.Context()), cmd.ErrOrStderr()
	return h
}

// valueIn returns the value of a variable of an environment, or "".
func valueIn(environ []string, name string) string {
	for _, line := range environ {
		if value, ok := strings.CutPrefix(line, name+"="); ok {
			return value
		}
	}
	return ""
}

// exclude makes a flag mutually exclusive with each of the others.
func exclude(cmd *cobra.Command, flag string, others ...string) {
	for _, other := range others {
		cmd.MarkFlagsMutuallyExclusive(flag, other)
	}
}

// release is the version for builds without git: -ldflags "-X main.release=v1.2.3", as in deploy/Dockerfile.
var release string

// version returns the release, or else the version in the build information.
func version() string {
	if release != "" {
		return release
	}
	return program.Version()
}

//go:embed demodata/flights.csv.gz
var demoFlights []byte

func demoCommand() *cobra.Command {
	var o demo.Options
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See it work: real flights through a broker in this process, with and without privacy",
		Long: "Demo starts an embedded broker, sends it flights that left New York in 2013, and runs the service over them once for each\n" +
			"mechanism: the pipeline of `oriel run`, no short cut. It then reads the decision topics back, scores every decision on the\n" +
			"next flight, and shows private numbers of another deployment beside the truth. It needs nothing installed and leaves\n" +
			"nothing behind.\n\n" +
			"Each of the three airports is a partition and a stream (ORIEL_STREAM=partition): independent models on purpose, because\n" +
			"airports differ. A topic that has partitions for its producers' sake is one stream: ORIEL_STREAM=topic.\n\n" +
			"Noise follows from --seed, so that the same call gives the same figures: these flights are public. A service draws its own.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := readDemoFlights()
			if err != nil {
				return err
			}
			o.Bar = func(total int64, what string) demo.Bar { return program.NewBar(cmd.ErrOrStderr(), total, what, false) }
			return demo.Run(cmd.Context(), cmd.OutOrStdout(), all, o)
		},
	}
	cmd.Flags().BoolVar(&o.Keep, "keep", false, "leave the broker running until interrupted, for tail and kcat")
	program.Var(cmd.Flags(), &o.Seed, "seed", 1, "another number gives other noise")
	return cmd
}

func readDemoFlights() ([]flights.Flight, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(demoFlights))
	if err != nil {
		return nil, err
	}
	return flights.Read(unzipped)
}
