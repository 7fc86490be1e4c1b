package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"time"
)

//go:embed assets
var assets embed.FS

// policy lets the page load only what this server serves: no inline script, no other host, no frame.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Limits of event streams. Each stream takes one of the few connections that the pages have.
const (
	maxClients   = 8
	frameTimeout = 10 * time.Second // limit for sending a frame; a slower client is disconnected
)

// types maps endings of asset files to media types.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".svg": "image/svg+xml", ".LICENSE": "text/plain; charset=utf-8",
}

// Handler serves the page, and passes every request for another path to rest.
func (p *Page) Handler(rest http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", rest)
	files, err := assets.ReadDir("assets")
	if err != nil {
		panic("BUG: page: " + err.Error())
	}
	for _, file := range files {
		content, _ := assets.ReadFile("assets/" + file.Name()) // reading an embedded file cannot fail
		place := "/page/" + file.Name()
		if file.Name() == "index.html" {
			place = "/{$}"
		}
		mux.Handle(place, reading(static(file.Name(), content)))
	}
	mux.Handle("/page/events", reading(p.serveEvents))
	mux.Handle("/page/course", reading(p.serveCourse))
	return mux
}

// reading refuses methods that could change something, and sets the headers of all answers.
func reading(serve http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-cache")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "GET and HEAD alone", http.StatusMethodNotAllowed)
			return
		}
		serve(w, r)
	})
}

func static(name string, content []byte) http.HandlerFunc {
	sum := sha256.Sum256(content)
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", types[path.Ext(name)])
		w.Header().Set("ETag", tag)
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
	}
}

// serveCourse answers with the history of one coordinate, or of an arm's effect.
func (p *Page) serveCourse(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.URL.Query().Get("partition"), 10, 32)
	name, frame := "coordinate", p.courseFrame
	if r.URL.Query().Has("arm") {
		name, frame = "arm", p.effectsFrame
	}
	place, wrong := strconv.Atoi(r.URL.Query().Get(name))
	if err != nil || wrong != nil {
		http.Error(w, "partition and "+name+" must be whole numbers", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(frame(int32(id), place))
}

// serveEvents sends about and the past. It then sends a frame at once and after each tick, until the client or the page
// ends.
func (p *Page) serveEvents(w http.ResponseWriter, r *http.Request) {
	if !p.enter() {
		w.Header().Set("Retry-After", "10")
		http.Error(w, "too many event streams", http.StatusServiceUnavailable)
		return
	}
	defer p.leave()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		return
	}
	to := http.NewResponseController(w)
	send := func(event string, data []byte) bool {
		_ = to.SetWriteDeadline(time.Now().Add(frameTimeout))
		_, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data)
		return err == nil && to.Flush() == nil
	}
	next := p.nextTick()
	if !send("about", p.aboutFrame()) || !send("past", p.pastFrame()) || !send("now", p.nowFrame()) {
		return
	}
	for {
		select {
		case <-r.Context().Done():
			return
		case <-p.ended:
			return
		case <-next:
		}
		next = p.nextTick()
		if !send("now", p.nowFrame()) {
			return
		}
	}
}

func (p *Page) nextTick() chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ticked
}

func (p *Page) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.clients == maxClients {
		return false
	}
	p.clients++
	return true
}

func (p *Page) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clients--
}
