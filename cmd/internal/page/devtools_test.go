//go:build chromium

package page_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// browser is a Chromium without a window. The test drives it through its DevTools protocol on two pipes: messages are
// JSON, each followed by a zero byte. It has one page.
type browser struct {
	t       *testing.T
	to      *os.File
	session string

	mu       sync.Mutex
	next     int
	answers  map[int]chan answer
	console  []string // messages, exceptions and failed loads on the console
	requests []string // requested addresses
}

type answer struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && program == "" {
			program = path
		}
	}
	if program == "" {
		t.Fatal("no chromium: apt-get install chromium")
	}
	readsHere, writesThere, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	readsThere, writesHere, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	// not t.TempDir, because the test would fail if the folder cannot be removed
	profile, err := os.MkdirTemp("", "oriel-chromium-")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--hide-scrollbars", "--disable-background-networking", "--disable-component-update", "--no-first-run",
		"--user-data-dir="+profile, "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{readsThere, writesThere} // file descriptors 3 and 4 of the browser
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = readsThere.Close(), writesThere.Close()
	b := &browser{t: t, to: writesHere, answers: map[int]chan answer{}}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.listen(readsHere)
	}()
	t.Cleanup(func() {
		_ = writesHere.Close() // closing the pipe ends the browser and its children
		gone := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		gone.Stop()
		_ = readsHere.Close()
		<-ended
		_ = os.RemoveAll(profile) // children of the browser may still write there, so files may remain
	})
	var target struct{ TargetID string }
	b.do("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.do("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.do(domain+".enable", nil, nil)
	}
	return b
}

func (b *browser) listen(from *os.File) {
	r := bufio.NewReaderSize(from, 1<<20)
	for {
		line, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m struct {
			ID     int
			Method string
			Params json.RawMessage
			answer
		}
		if json.Unmarshal(line[:len(line)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		switch m.Method {
		case "":
			b.answers[m.ID] <- m.answer
			delete(b.answers, m.ID)
		case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded":
			b.console = append(b.console, string(m.Params))
		case "Network.requestWillBeSent":
			var p struct{ Request struct{ URL string } }
			_ = json.Unmarshal(m.Params, &p)
			b.requests = append(b.requests, p.Request.URL)
		}
		b.mu.Unlock()
	}
}

// do sends a command and waits for its result.
func (b *browser) do(method string, params map[string]any, result any) {
	b.t.Helper()
	b.mu.Lock()
	b.next++
	id, done := b.next, make(chan answer, 1)
	b.answers[id] = done
	b.mu.Unlock()
	message := map[string]any{"id": id, "method": method}
	if params != nil {
		message["params"] = params
	}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	line, err := json.Marshal(message)
	if err == nil {
		_, err = b.to.Write(append(line, 0))
	}
	if err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	select {
	case a := <-done:
		if a.Error != nil {
			b.t.Fatalf("%s: %s", method, a.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(a.Result, result); err != nil {
				b.t.Fatalf("%s: %v", method, err)
			}
		}
	case <-time.After(30 * time.Second):
		b.t.Fatalf("%s: no answer", method)
	}
}

// evaluate runs an expression in the page, waits for its promise, and reads its value into result.
func (b *browser) evaluate(expression string, result any) {
	b.t.Helper()
	var got struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.do("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &got)
	if got.ExceptionDetails != nil {
		b.t.Fatalf("%.80s: %s", expression, got.ExceptionDetails)
	}
	if result != nil {
		if err := json.Unmarshal(got.Result.Value, result); err != nil {
			b.t.Fatalf("%.80s: %v", expression, err)
		}
	}
}

// await waits until an expression is true.
func (b *browser) await(what, expression string) {
	b.t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		var ok bool
		if b.evaluate("!!("+expression+")", &ok); ok {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("not within 30 s: %s", what)
		}
	}
}

// open goes to an address, at a window width and in a light or dark colour scheme.
func (b *browser) open(address string, width int, scheme string) {
	b.t.Helper()
	b.do("Emulation.setDeviceMetricsOverride", map[string]any{
		"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600,
	}, nil)
	b.do("Emulation.setEmulatedMedia", map[string]any{
		"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}},
	}, nil)
	b.do("Page.navigate", map[string]any{"url": address}, nil)
}

// press types a key that writes no text.
func (b *browser) press(key, text string) {
	b.t.Helper()
	for _, kind := range []string{"keyDown", "keyUp"} {
		event := map[string]any{"type": kind, "key": key}
		switch {
		case key == "Tab":
			event["windowsVirtualKeyCode"] = 9
		case key == "Enter":
			event["windowsVirtualKeyCode"] = 13
		}
		if kind == "keyDown" && text != "" {
			event["text"] = text
		}
		b.do("Input.dispatchKeyEvent", event, nil)
	}
}

// picture writes a screenshot of the whole page.
func (b *browser) picture(dir, name string) {
	b.t.Helper()
	var shot struct{ Data string }
	b.do("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &shot)
	content, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name), content, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}
