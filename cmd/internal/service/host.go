package service

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"

	"oriel/cmd/internal/settings"
	"oriel/pipeline/kafka"
	"oriel/pipeline/notice"
	"oriel/pipeline/streams"
	"oriel/state/local"
)

// Host is what a command has from the machine that it runs on. A test gives it pipes, a memory disk and a buffer, so
// that the service runs within the test as it does alone.
type Host struct {
	version string // that the log and the pages show
	Environ []string
	Stderr  io.Writer
	Listen  func(network, address string) (net.Listener, error)
	Client  func(*kafka.Config) // changes how the brokers are reached
	Store   local.Options
	place   func(stateDir string) string // this process's place in the group, the same at each start; nil: none that lasts
	Model   func(settings.Settings) (streams.Model, error)
	Heard   notice.Listener   // hears what happens beside the log, the metrics and the pages
	limit   func(bytes int64) // bounds what the memory of the whole process grows to; nil does not
}

// ThisHost is the machine that the program of a version was started on.
func ThisHost(version string) Host {
	return Host{
		version: version, Environ: os.Environ(), Stderr: os.Stderr, Listen: net.Listen, Client: func(*kafka.Config) {},
		place: placeOf,
		Model: settings.Settings.Model,
	}
}

// placeOf is made of what a process has at each start and no other has meanwhile: the machine's name, and the directory
// that it locks. Where both are the same all the same, as in containers that were all given one host name, the group
// says so.
func placeOf(stateDir string) string {
	machine, err := os.Hostname()
	if err != nil {
		return ""
	}
	dir, err := filepath.Abs(stateDir)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(machine + "\x00" + dir))
	return "oriel-" + hex.EncodeToString(sum[:8])
}

// Hide keeps the events and keys that are in memory out of core dumps. Every command does it, because nearly all of
// them hold some. The limit alone is not enough: the kernel does not look at it where it pipes dumps to a program, as
// systemd-coredump and apport are.
func Hide() error {
	if err := errors.Join(noCoreDumps(), notDumpable()); err != nil {
		return fmt.Errorf("forbid core dumps: %w", err)
	}
	return nil
}

// Tune sets what belongs to the whole process of the service.
func (h *Host) Tune() error {
	// What is allocated is short-lived (requests, and ciphers where the processor has no AES) and small beside the
	// buffers, which are kept: a heap of five times the live data, as far as the limit below lets it grow, saves a
	// tenth of the processor.
	debug.SetGCPercent(400)
	if os.Getenv("GOMEMLIMIT") == "" { // whoever sets it knows better
		h.limit = func(bytes int64) { debug.SetMemoryLimit(bytes) }
	}
	return nil
}

// logger writes lines from a level on, in the format that settings accept: logfmt or json.
func (h Host) logger(level, format string) *slog.Logger {
	var l slog.Level
	_ = l.UnmarshalText([]byte(level)) // one of the four that settings accept
	options := &slog.HandlerOptions{Level: l}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(h.Stderr, options))
	}
	return slog.New(slog.NewTextHandler(h.Stderr, options))
}
