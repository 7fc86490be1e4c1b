package service

import (
	"crypto/sha256"
	"encoding/hex"
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

// Host is everything that a command uses of the computer that it runs on. A test sets pipes, a memory disk and a
// buffer, so that the service runs inside the test as it does in a process of its own.
type Host struct {
	version string // version that the log and the pages show
	Environ []string
	Stderr  io.Writer
	Listen  func(network, address string) (net.Listener, error)
	Client  func(*kafka.Config) // changes the configuration of the Kafka client
	Store   local.Options
	// identity in the consumer group, the same at each start; nil: a new one at each start
	place    func(stateDir string) string
	Model    func(settings.Settings) (streams.Model, error)
	Listener notice.Listener   // a further listener besides the log, the metrics and the pages
	CatchUp  bool              // run publishes the steps of an outage of more than a day
	limit    func(bytes int64) // sets the memory limit of the whole process; nil: does nothing
}

// ThisHost returns the computer that runs the program. The log and the pages show version.
func ThisHost(version string) Host {
	return Host{
		version: version, Environ: os.Environ(), Stderr: os.Stderr, Listen: net.Listen, Client: func(*kafka.Config) {},
		place: placeOf,
		Model: func(s settings.Settings) (streams.Model, error) { return s.Model(), nil },
	}
}

// placeOf returns an identity that a process keeps across restarts and that no other running process has. It is a hash
// of the computer's name and of the state directory, which the process locks. Containers with the same host name can
// still have equal identities; the consumer group then reports the conflict.
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

// Tune sets parameters of the garbage collector for the service's process.
func (h *Host) Tune() error {
	// Most allocations are short-lived (requests, and ciphers if the processor has no AES) and small beside the buffers,
	// which are kept. So the heap may grow to five times the live data, within the limit below. This saves a tenth of the
	// processor time.
	debug.SetGCPercent(400)
	if os.Getenv("GOMEMLIMIT") == "" { // an explicit GOMEMLIMIT has precedence
		h.limit = func(bytes int64) { debug.SetMemoryLimit(bytes) }
	}
	return nil
}

// logger returns a logger of lines from a level upwards, in one of the formats that the settings accept: logfmt or
// json.
func (h Host) logger(level, format string) *slog.Logger {
	var l slog.Level
	_ = l.UnmarshalText([]byte(level)) // settings accept only the four names that it knows
	options := &slog.HandlerOptions{Level: l}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(h.Stderr, options))
	}
	return slog.New(slog.NewTextHandler(h.Stderr, options))
}
