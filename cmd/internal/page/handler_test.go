package page_test

import (
	"bufio"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"oriel/cmd/internal/page"
	"oriel/cmd/internal/repotest"
	"oriel/mechanisms/protection"
	"oriel/pipeline/console"
	"oriel/pipeline/notice"
)

var guarantee = protection.Guarantee{
	Terms:     protection.Terms{Scope: protection.Window{Steps: 8}, Unit: protection.Event{}},
	Mechanism: "test", Epsilon: 1, Batch: 1,
}

func newPage(reasons ...console.Reason) *page.Page {
	return page.New(page.About{
		Deployment: "late", Operator: "test", Audience: notice.Operators, Guarantee: guarantee,
		Reasons: func() []console.Reason { return reasons },
	})
}

// ask sends one request to the page; the handler for other paths finds nothing.
func ask(p *page.Page, method, target string) *http.Response {
	w := httptest.NewRecorder()
	p.Handler(http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequest(method, target, nil))
	return w.Result()
}

// TestPageIsReadOnly checks that methods that could change something are refused, and that unknown paths are not found.
func TestPageIsReadOnly(t *testing.T) {
	p := newPage()
	for _, target := range []string{
		"/", "/page/main.js", "/page/page.css", "/page/events", "/page/course?partition=0&coordinate=1",
	} {
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
			if a := ask(p, method, target); a.StatusCode != http.StatusMethodNotAllowed || a.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %s, Allow %q", method, target, a.Status, a.Header.Get("Allow"))
			}
		}
		a := ask(p, "HEAD", target)
		if a.StatusCode != http.StatusOK {
			t.Errorf("HEAD %s: %s", target, a.Status)
		}
		policy := a.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") ||
			strings.Contains(policy, "http") {
			t.Errorf("%s: policy %q", target, policy)
		}
	}
	for target, want := range map[string]int{
		"/page": 404, "/page/": 404, "/page/index.html": 404, "/index.html": 404, "/page/frame.go": 404,
		"/page/course": 400, "/page/course?partition=x&coordinate=1": 400, "/page/course?partition=0&coordinate=": 400,
		"/page/course?partition=9&coordinate=-1": 200,
	} {
		if a := ask(p, "GET", target); a.StatusCode != want {
			t.Errorf("GET %s: %s, want %d", target, a.Status, want)
		}
	}
}

// TestPageIsWhole checks that a visit loads at most 150 kB, only from the page's own server, and runs no inline script.
func TestPageIsWhole(t *testing.T) {
	p := newPage()
	loads := regexp.MustCompile(`(?:/page/|"\./)([\w.]+)`)
	bytes, seen := 0, map[string]bool{}
	for queue := []string{"/"}; len(queue) > 0; queue = queue[1:] {
		target := queue[0]
		if seen[target] || target == "/page/events" || target == "/page/course" {
			continue
		}
		seen[target] = true
		a := ask(p, "GET", target)
		body, _ := io.ReadAll(a.Body)
		if a.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", target, a.Status)
		}
		if a.Header.Get("Content-Type") == "" || a.Header.Get("ETag") == "" {
			t.Errorf("%s: headers %v", target, a.Header)
		}
		if bytes += len(body); strings.Contains(target, "uplot") {
			continue
		}
		for _, inline := range []string{"<script>", "<style", " style=", " onclick", "://"} {
			if strings.Contains(strings.ReplaceAll(string(body), "http://www.w3.org/2000/svg", ""), inline) {
				t.Errorf("%s contains %q", target, inline)
			}
		}
		for _, m := range loads.FindAllStringSubmatch(string(body), -1) {
			queue = append(queue, "/page/"+m[1])
		}
	}
	if bytes > 150_000 {
		t.Errorf("a visit loads %d bytes", bytes)
	}
	files, err := fs.Glob(os.DirFS("assets"), "*")
	if err != nil || len(seen) != len(files) {
		t.Errorf("a visit sees %d of the files %v: %v", len(seen), files, err)
	}
}

// TestRunbookHasTheSections checks that the runbook has the sections that the page names.
func TestRunbookHasTheSections(t *testing.T) {
	runbook, err := os.ReadFile(repotest.Path("deploy/RUNBOOK.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name := range console.New(notice.Operators).Waiting() {
		frame := firstFrame(t, newPage(console.Reason{Name: name, Lines: []string{"a line"}}))
		found := regexp.MustCompile(`"name":"` + name + `","lines":\["a line"\],"section":"(\w+)"`).FindStringSubmatch(frame)
		if found == nil || !strings.Contains(string(runbook), "\n### "+found[1]+"\n") {
			t.Errorf("reason %s: no section of the runbook: %v", name, found)
		}
	}
}

// firstFrame reads an event stream up to its first frame.
func firstFrame(t *testing.T, p *page.Page) string {
	t.Helper()
	server := httptest.NewServer(p.Handler(http.NotFoundHandler()))
	defer server.Close()
	a, err := http.Get(server.URL + "/page/events")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	for lines := bufio.NewScanner(a.Body); lines.Scan(); {
		if text, is := strings.CutPrefix(lines.Text(), "data: "); is && strings.Contains(text, `"ready":`) {
			return text
		}
	}
	t.Fatal("the event stream has no frame")
	return ""
}

// pipes is a listener that accepts in-memory pipes, so that it can be in a synctest bubble.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, open := <-p; open {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error { return nil }

func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// call requests the event stream. The pipe has no buffer, so a client that does not read blocks the server.
func (p pipes) call() *bufio.Reader {
	here, there := net.Pipe()
	p <- there
	_, _ = io.WriteString(here, "GET /page/events HTTP/1.1\r\nHost: a\r\n\r\n")
	return bufio.NewReader(here)
}

// TestEventStreamsAreBounded checks that eight clients get an event stream each. A client that does not read must lose
// its stream after ten seconds, which makes room for another. A client that reads must keep its stream beyond every
// timeout of the server. All streams must end with the page. The bubble fails the test if a goroutine is left.
func TestEventStreamsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, calls := newPage(), make(pipes)
		stop := p.Start()
		server := console.New(notice.Operators).Server(nil)
		server.Handler = p.Handler(server.Handler)
		go func() { _ = server.Serve(calls) }()
		status := func(r *bufio.Reader) string {
			line, _ := r.ReadString('\n')
			return strings.TrimSpace(line)
		}
		reader := calls.call()
		if got := status(reader); got != "HTTP/1.1 200 OK" {
			t.Fatal(got)
		}
		frames, ended := 0, make(chan struct{})
		go func() {
			defer close(ended)
			for {
				line, err := reader.ReadString('\n')
				if err != nil {
					return
				}
				if strings.HasPrefix(line, "event: now") {
					frames++
				}
			}
		}()
		for range 7 {
			calls.call()
		}
		synctest.Wait()
		if got := status(calls.call()); got != "HTTP/1.1 503 Service Unavailable" {
			t.Errorf("the ninth client: %s", got)
		}
		time.Sleep(11 * time.Second)
		late := calls.call()
		if got := status(late); got != "HTTP/1.1 200 OK" {
			t.Errorf("after the slow ones: %s", got)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if frames < 130 || frames > 134 {
			t.Errorf("%d frames in 131 s", frames)
		}
		stop()
		<-ended
		close(calls)
		_ = server.Close()
		synctest.Wait()
	})
}
