package servicetest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/program"
	"oriel/cmd/internal/service"
	"oriel/cmd/internal/service/coredumps"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka"
	"oriel/pipeline/notice"
)

// Main runs a package's tests. Fixtures start the test binary again as a child process: with TEST_CHILD set, it behaves
// as oriel, with oriel's arguments, environment and exit code. root returns all commands of oriel; fixtures run most of
// them inside the test. If root is nil, the child has only the commands of a service, and a fixture builds oriel to run
// any other command. TEST_KILL=point:n makes a service kill itself when it reaches a point for the n-th time. With
// TEST_DOUBT set, the service waits as long as oriel does before it believes that records or topics are lost.
func Main(m *testing.M, root func() *cobra.Command) {
	if os.Getenv("TEST_CHILD") == "" {
		tiertest.Waiting(waiting)
		commands = root
		code := m.Run()
		removeBuilt()
		os.Exit(code)
	}
	ctx, kill := program.Interruption(), os.Getenv("TEST_KILL")
	if root != nil && kill == "" {
		os.Exit(program.Execute(ctx, root()))
	}
	h := Host()
	if kill != "" {
		h.Listener = notice.Listener{Reached: killAt(kill)}
	}
	tuned := errors.Join(coredumps.Forbid(), h.Tune())
	os.Exit(exit.Report(os.Stderr, "oriel", errors.Join(tuned, serviceCommand(ctx, h, os.Args[1:]))))
}

// Host returns the computer that runs the test. On brokers that never answer from an old log, its services wait less
// than oriel does before they believe that records or topics are lost.
func Host() service.Host {
	h := service.ThisHost("test")
	h.Client = func(c *kafka.Config) {
		if os.Getenv("TEST_DOUBT") == "" {
			c.DoubtFor = doubtFor
		}
	}
	return h
}

// serviceCommand runs a command of a service as oriel does.
func serviceCommand(ctx context.Context, h service.Host, args []string) error {
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	once, partitions := flags.Bool("once", false, ""), flags.Int("input-partitions", 0, "")
	check, from, save := flags.Bool("check", false, ""), flags.String("from", "", ""), flags.String("save", "", "")
	partition, leaveOut := flags.Int("partition", 0, ""), flags.Uint("leave-out", 0, "") // 0: no schema is left out
	step, skip := flags.Uint64("step", 0, ""), flags.Bool("skip", false, "")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	switch args[0] {
	case "topics":
		return service.PrepareTopics(ctx, h, *partitions, nil)
	case "pull":
		var ids []uint
		if *leaveOut > 0 {
			ids = append(ids, *leaveOut)
		}
		return service.PullSchemas(ctx, h, ids)
	case "next":
		return service.NextExperiment(ctx, h, h.Stderr, *step)
	case "end":
		return service.End(ctx, h, h.Stderr, flags.Arg(0), *skip)
	case "run":
		return service.Run(ctx, h)
	case "order":
		return service.WriteOrder(ctx, h)
	case "letters":
		return service.WriteLetters(ctx, h, *once)
	}
	if !*check {
		return h.SaveCheckpoint(ctx, int32(*partition), *save)
	}
	compared, err := h.CheckDecisions(ctx, int32(*partition), *from, func(int) {})
	if err == nil {
		fmt.Fprintf(h.Stderr, "partition %d: %d decisions compared, all equal\n", *partition, compared)
	}
	return err
}

// ofService reports whether serviceCommand can run the command in these arguments.
func ofService(args []string) bool {
	return slices.Contains([]string{"topics", "run", "order", "letters", "pull", "next", "end"}, args[0]) ||
		args[0] == "replay" && !slices.Contains(args, "--events")
}

func killAt(text string) func(int32, notice.Point) {
	point, count, _ := strings.Cut(text, ":")
	n, err := strconv.Atoi(count)
	if err != nil {
		panic("BUG: servicetest: TEST_KILL is not point:n")
	}
	var left atomic.Int64
	left.Store(int64(n))
	return func(_ int32, p notice.Point) {
		if string(p) == point && left.Add(-1) == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
}

// commands returns all commands of oriel. It is nil if this binary has only those of a service.
var commands func() *cobra.Command

// built is the path of oriel, once it has been built. A process builds it at most once.
var built struct {
	once sync.Once
	dir  string
	err  error
}

// BuildArgs returns arguments for a go command that builds a program. `go build` would link the program each time,
// while `go run` keeps the linked program in its cache, for the tests of other packages and for the next run.
func BuildArgs(program, to string) []string {
	return []string{"run", "-buildvcs=false", "-ldflags=-s -w", "-exec", "cp", program, to}
}

func buildOriel() {
	if built.dir, built.err = os.MkdirTemp("", "oriel-test-"); built.err != nil {
		return
	}
	build := exec.Command("go", BuildArgs("oriel/cmd/oriel", filepath.Join(built.dir, "oriel"))...)
	if out, err := build.CombinedOutput(); err != nil {
		built.err = fmt.Errorf("build oriel: %w: %s", err, out)
	}
}

func removeBuilt() {
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
}

// binaryFor returns the path of the program that a child process with these arguments runs.
func binaryFor(t *testing.T, args []string) string {
	t.Helper()
	if commands != nil || ofService(args) {
		return os.Args[0]
	}
	built.once.Do(buildOriel)
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.dir, "oriel")
}
