package service_test

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/service"
	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/topics"
)

// TestCommandsGiveUpOnDeadBrokers checks that each command fails after a minute, with an error that names the brokers'
// addresses.
func TestCommandsGiveUpOnDeadBrokers(t *testing.T) {
	const brokers = "dead:9092"
	for name, command := range map[string]func(context.Context, service.Host) error{
		"tail, eval, score": func(ctx context.Context, h service.Host) error {
			return h.WithClient(func(client *kafka.Client) error {
				_, err := topics.Find(ctx, client, "decisions")
				return err
			})
		},
		"topics":  func(ctx context.Context, h service.Host) error { return service.PrepareTopics(ctx, h, 0, nil) },
		"letters": func(ctx context.Context, h service.Host) error { return service.WriteLetters(ctx, h, true) },
		"order":   service.WriteOrder,
		"replay":  func(ctx context.Context, h service.Host) error { return h.SaveCheckpoint(ctx, 0, "") },
	} {
		t.Run(name, func(t *testing.T) {
			key := filepath.Join(t.TempDir(), "master.key")
			servicetest.WriteKey(t, key, 7)
			host := service.ThisHost("test")
			host.Environ, host.Stderr = nil, io.Discard
			env := servicetest.Environment("d", brokers, key, t.TempDir())
			env["ORIEL_STREAM"], env["ORIEL_SEQUENCER"] = "topic", "other"
			for name, value := range env {
				host.Environ = append(host.Environ, name+"="+value)
			}
			host.Client = func(c *kafka.Config) {
				c.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("connection refused") }
			}
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				err := command(ctx, host)
				refused, is := errors.AsType[*kafka.RefusedError](err)
				if took := time.Since(began); !is || took > 2*time.Minute {
					t.Fatalf("after %v: %v, want that no broker answers, within 2m", took, err)
				}
				want := "describe topics at dead:9092: no broker answers: connection refused"
				if refused.Why != kafka.NoAnswer || !strings.HasSuffix(err.Error(), want) || exit.Remedy(err) == "" {
					t.Errorf("%q, want %q, with a remedy", err, want)
				}
			})
		})
	}
}
