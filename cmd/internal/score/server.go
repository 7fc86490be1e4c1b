package score

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"

	"oriel/schemas/event"
	"oriel/schemas/text"
)

// Limits of the server. A score takes microseconds. A slow client must not keep a connection, and no client may use up
// the memory for other clients.
const (
	connections   = 256              // largest number of open connections
	concurrent    = 16               // largest number of events that are decoded at once
	headerTimeout = 5 * time.Second  // limit for reading a request's header
	readTimeout   = 10 * time.Second // limit for reading a whole request
	writeTimeout  = 10 * time.Second // limit for sending a response
	idleTimeout   = time.Minute      // limit for the pause between two requests
	waitTimeout   = time.Second      // limit for waiting for a decoder
	headerBytes   = 16 << 10
)

// Headers by which a request names a stream, or the record key that decides the stream. They are not in the path,
// because proxies log paths.
const (
	streamHeader = "Oriel-Stream"
	keyHeader    = "Oriel-Key"
)

// Serve answers events at an address until ctx ends. notes receives the address.
func (m *Models) Serve(ctx context.Context, notes io.Writer, c event.Config, a Asked, address string) error {
	server, err := m.newServer(func() (event.Decoder, error) { return event.OpenDecoder(c) }, a)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(notes, "POST http://%s/score answers events; Ctrl-C ends\n", l.Addr())
	done := make(chan error, 1)
	go func() { done <- server.Serve(netutil.LimitListener(l, connections)) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err = server.Shutdown(ending)
	if closed := <-done; !errors.Is(closed, http.ErrServerClosed) {
		err = errors.Join(err, closed)
	}
	return err
}

// newServer returns a server of POST /score, whose body is an event. It writes no log, because events are private. open
// makes a decoder. a applies to requests that name neither a stream nor a key.
func (m *Models) newServer(open func() (event.Decoder, error), a Asked) (*http.Server, error) {
	decoders := make(chan event.Decoder, concurrent)
	for range concurrent {
		d, err := open()
		if err != nil {
			return nil, err
		}
		decoders <- d
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /score", func(w http.ResponseWriter, r *http.Request) { m.serve(w, r, decoders, a) })
	return &http.Server{
		Handler: mux, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: headerBytes, ErrorLog: silent(),
	}, nil
}

func (m *Models) serve(w http.ResponseWriter, r *http.Request, decoders chan event.Decoder, a Asked) {
	line, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(a.Longest)))
	if err != nil {
		status, large := http.StatusBadRequest, (*http.MaxBytesError)(nil)
		if errors.As(err, &large) {
			status = http.StatusRequestEntityTooLarge
		}
		answer(w, status, appendProblem(nil, "the event is too large, or was cut short"))
		return
	}
	wait, stop := time.NewTimer(waitTimeout), r.Context().Done()
	defer wait.Stop()
	var decoder event.Decoder
	select {
	case decoder = <-decoders:
	case <-stop:
		return
	case <-wait.C:
		answer(w, http.StatusServiceUnavailable, appendProblem(nil, "too many requests at once"))
		return
	}
	defer func() { decoders <- decoder }()
	stream, key := r.Header.Get(streamHeader), []byte(nil)
	if given := r.Header.Values(keyHeader); len(given) > 0 {
		key = []byte(given[0])
	}
	if stream == "" && key == nil {
		stream = a.Stream
	}
	model, err := m.Of(stream, key)
	switch {
	case errors.Is(err, ErrStream):
		answer(w, http.StatusNotFound, appendProblem(nil, err.Error()))
		return
	case errors.Is(err, ErrNone):
		answer(w, http.StatusServiceUnavailable, appendProblem(nil, err.Error()))
		return
	case err != nil:
		answer(w, http.StatusBadRequest, appendProblem(nil, err.Error()))
		return
	}
	var e event.Event
	if code := decoder.Decode(&e, line); code != text.OK {
		answer(w, http.StatusUnprocessableEntity, appendProblem(nil, code.String()))
		return
	}
	answer(w, http.StatusOK, m.AppendAnswer(nil, model, e.Vector, time.Now()))
}

func answer(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // Write fails only if the client is gone
}
