package main

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"oriel/pipeline/notice"
)

// TestMain lets a test start this binary again as the real command: with TEST_CHILD set it is oriel, with its
// arguments, environment and exit code. TEST_KILL=point:n makes it kill itself when it reaches a point for the n-th
// time.
func TestMain(m *testing.M) {
	if os.Getenv("TEST_CHILD") == "" {
		// Parallel tests wait for processes and brokers more than they compute. -parallel of the command line still
		// counts.
		if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
		os.Exit(m.Run())
	}
	ctx, code := interruption(), 0
	if kill := os.Getenv("TEST_KILL"); kill == "" {
		code = execute(ctx, root())
	} else {
		h := thisHost()
		h.heard = notice.Listener{Reached: killAt(kill)}
		if os.Args[1] == "letters" {
			code = report(os.Stderr, writeLetters(ctx, h, false))
		} else {
			code = report(os.Stderr, run(ctx, h))
		}
	}
	os.Exit(code)
}

func killAt(text string) func(int32, notice.Point) {
	point, count, _ := strings.Cut(text, ":")
	n, err := strconv.Atoi(count)
	if err != nil {
		panic("BUG: main: TEST_KILL is not point:n")
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
