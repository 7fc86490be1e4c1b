package demo

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"oriel/cmd/internal/flights"
	"oriel/cmd/internal/service"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/state"
)

// pageAddress is the default address of `oriel run`. If it is in use, the page gets any free port.
const pageAddress = "127.0.0.1:9464"

// live sends flights again and again, and counts them with the service of `oriel run`, whose page users can open. It
// returns the page's address once the page answers. The service ends when ctx is cancelled; wait waits for its end and
// returns its error.
func live(
	ctx context.Context, client *kafka.Client, broker, dir string, streams [][]flights.Flight,
) (address string, wait func() error, err error) {
	key := filepath.Join(dir, "live.key")
	secret := state.NewSecret()
	if err := os.WriteFile(key, []byte(hex.EncodeToString(secret[:])+"\n"), 0o600); err != nil {
		return "", nil, err
	}
	listening := make(chan net.Addr, 1)
	h := service.ThisHost("demo")
	h.Stderr = io.Discard
	h.Environ = append(arrivalLines("live"), "ORIEL_BROKERS="+broker, "ORIEL_MASTER_KEY_FILE="+key,
		"ORIEL_STATE_DIR="+filepath.Join(dir, "live"), "ORIEL_HTTP_ADDR="+pageAddress, "ORIEL_INCREMENTS=true")
	h.Listen = func(network, address string) (net.Listener, error) {
		l, err := net.Listen(network, address)
		if err != nil {
			l, err = net.Listen(network, "127.0.0.1:0")
		}
		if err == nil {
			listening <- l.Addr()
		}
		return l, err
	}
	if err := service.PrepareTopics(ctx, h, 0, nil); err != nil {
		return "", nil, fmt.Errorf("live: %w", err)
	}
	ended := make(chan error, 2)
	go func() { ended <- service.Run(ctx, h) }()
	go func() { ended <- sendForEver(ctx, client, streams) }()
	wait = func() error {
		first := <-ended
		if ctx.Err() != nil {
			_ = error(<-ended)
			return nil
		}
		return fmt.Errorf("live: %w", first)
	}
	select {
	case at := <-listening:
		return "http://" + at.String() + "/", wait, nil
	case err := <-ended:
		return "", nil, fmt.Errorf("live: %w", err)
	}
}

// Each airport sends liveRate flights a second, so that a decision is due each second.
const (
	liveRate  = arrivalsOf
	livePause = 200 * time.Millisecond
)

// sendForEver sends the flights of each partition in order, and then again, until ctx ends.
func sendForEver(ctx context.Context, client *kafka.Client, streams [][]flights.Flight) error {
	producer, err := produce.New(ctx, client, "", time.Minute)
	if err != nil {
		return err
	}
	ticks := time.NewTicker(livePause)
	defer ticks.Stop()
	var value []byte
	for sent := 0; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
		for p, stream := range streams {
			var b records.Builder
			for i := range int(liveRate * livePause / time.Second) {
				value = appendArrival(&stream[(sent+i)%len(stream)], value[:0])
				b.Append(nil, value, nil, time.Now().UnixMilli())
			}
			if _, err := producer.Produce(ctx, arrivalsTopic, int32(p), &b); err != nil {
				return err
			}
		}
		sent += int(liveRate * livePause / time.Second)
	}
}
