//go:build chromium

package page_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka/records"
)

func TestMain(m *testing.M) { servicetest.Main(m, nil) }

// Both environment variables are paths: of axe.min.js of the npm package axe-core, and of the directory for
// screenshots. Without the second, screenshots are in a temporary directory of the test.
const (
	axeFile     = "TEST_AXE"
	picturesDir = "TEST_PICTURES"
)

// delays has the settings of an example: mean delays by airline and hour.
var delays = map[string]string{
	"ORIEL_OPERATOR": "aggregate", "ORIEL_CELLS": "carrier=AA|DL|UA,hour=0:24:24", "ORIEL_VALUE": "delay=-60:180",
	"ORIEL_STATISTICS": "count,mean", "ORIEL_MECHANISM": "blt", "ORIEL_WINDOW": "lifetime", "ORIEL_MEMORY": "65536",
	"ORIEL_MEMORIES": "1000,65536", "ORIEL_EPSILON": "4", "ORIEL_DELTA": "1e-6",
}

// variants has the settings of an experiment with three arms.
var variants = map[string]string{
	"ORIEL_OPERATOR": "aggregate", "ORIEL_CELLS": "variant=A|B|C", "ORIEL_VALUE": "paid=0:1",
	"ORIEL_STATISTICS": "count,mean",
	"ORIEL_ARMS":       "variant", "ORIEL_PROPENSITIES": "0.5|0.25|0.25", "ORIEL_ALWAYS_VALID": "0.05",
	"ORIEL_NEAR":   "0.3",
	"ORIEL_TARGET": "20000", "ORIEL_UNITS": "single", "ORIEL_LIFT": "true",
	"ORIEL_MECHANISM": "blt",
	"ORIEL_WINDOW":    "lifetime",
	"ORIEL_MEMORY":    "1024", "ORIEL_BATCH": "100", "ORIEL_EPSILON": "1", "ORIEL_DELTA": "1e-6",
}

// TestPageInChromium examines the page of a service that consumes live events.
func TestPageInChromium(t *testing.T) {
	address, stop := serveLive(t, delays, event)
	defer stop()                // before the context of the test ends
	time.Sleep(8 * time.Second) // the page needs some history
	b := newBrowser(t)
	checkLooks(b, address, "page", "document.querySelectorAll('#rows svg.band').length > 20",
		"document.querySelector('#course-chart canvas') && document.querySelector('#lag-chart canvas')",
		"document.getElementById('experiment').hidden")
	for _, width := range []int{768, 1920} {
		b.open(address, width, "light")
		b.await("numbers", "document.querySelectorAll('#rows svg.band').length > 20")
		var over int
		if b.evaluate("document.documentElement.scrollWidth - innerWidth", &over); over > 0 {
			t.Errorf("%d px: the page is %d px too wide", width, over)
		}
	}
	checkKeyboard(b)
	checkLive(b)
	checkPaint(b, address)
	checkQuiet(b, address)
}

// TestStepsByTheClockInChromium examines the page of steps of a second: the course has a point for each step, and totals
// of hours and days can be chosen, though none is whole yet.
func TestStepsByTheClockInChromium(t *testing.T) {
	address, stop := serveLive(t, map[string]string{
		"ORIEL_OPERATOR": "aggregate", "ORIEL_CELLS": "carrier=AA|DL|UA,hour=0:24:1", "ORIEL_VALUE": "delay=-60:180",
		"ORIEL_STATISTICS": "count,mean", "ORIEL_MECHANISM": "once-laplace", "ORIEL_STEP": "1s", "ORIEL_START": "latest",
		"ORIEL_WINDOW": "", "ORIEL_BATCH": "", "ORIEL_DELTA": "", "ORIEL_EPSILON": "1", "ORIEL_ADJACENCY": "",
	}, event)
	defer stop()
	time.Sleep(15 * time.Second) // steps come five seconds after their end
	b := newBrowser(t)
	checkLooks(b, address, "clock", "document.querySelectorAll('#rows svg.band circle').length === 3",
		"document.querySelector('#course-chart canvas')",
		"[...document.getElementById('memory').options].map((o) => o.text).join() === 'each step,newest whole hour,newest whole day'")
	b.evaluate("(() => { const m = document.getElementById('memory'); m.value = 'hour'; m.dispatchEvent(new Event('change')); return true; })()", nil)
	b.await("totals", "/no whole hour yet/.test(document.getElementById('rows').textContent)")
	checkQuiet(b, address)
}

// TestExperimentInChromium examines the page of an experiment in which one arm is better and one arm is equal to the
// control.
func TestExperimentInChromium(t *testing.T) {
	address, stop := serveLive(t, variants, conversion)
	defer stop()
	time.Sleep(8 * time.Second) // the page needs some history
	b := newBrowser(t)
	checkLooks(b, address, "experiment", "/^B is better than A\\.$/.test(document.getElementById('verdict')?.textContent)",
		"document.querySelectorAll('#arms tr').length === 3 && /B, better/.test(document.getElementById('arms').textContent)",
		"document.querySelector('#effect-chart canvas') && !/stop allowed/.test(document.getElementById('members').textContent)",
		"/95 %/.test(document.getElementById('experiment-reads').textContent)")
	b.evaluate("window.before = document.getElementById('experiment-events').textContent; true", nil)
	b.await("the next look", "document.getElementById('experiment-events').textContent !== window.before")
	checkQuiet(b, address)
}

// banded has the settings of a model with a band around predictions of a number.
var banded = map[string]string{
	"ORIEL_OPERATOR": "coco", "ORIEL_LOSS": "squared", "ORIEL_UPDATE": "projection", "ORIEL_SET": "l2-ball",
	"ORIEL_RADIUS": "4", "ORIEL_DIMENSION": "8", "ORIEL_CLIP": "4", "ORIEL_STRONG_CONVEXITY": "0.01",
	"ORIEL_BAND": "0.9", "ORIEL_BAND_RANGE": "-60:180",
	"ORIEL_MECHANISM": "blt", "ORIEL_WINDOW": "lifetime", "ORIEL_MEMORY": "1024", "ORIEL_EPSILON": "1",
	"ORIEL_DELTA": "1e-6",
}

// TestBandInChromium checks that the page describes the band of a model in words, also on a narrow screen.
func TestBandInChromium(t *testing.T) {
	address, stop := serveLive(t, banded, func(random *rand.Rand) string {
		return fmt.Sprintf(`{"features":{"carrier":"%c"},"label":%.0f}`, "ABC"[random.IntN(3)], 5+20*random.NormFloat64())
	})
	defer stop()
	b := newBrowser(t)
	b.open(address, 390, "light")
	b.await("the band", "/must hold the labels of 90 % of all events/.test(document.getElementById('band-says')?.textContent) && "+
		"!/band/.test(document.getElementById('members').textContent)")
	var over int
	if b.evaluate("document.documentElement.scrollWidth - innerWidth", &over); over > 0 {
		t.Errorf("the page is %d px too wide", over)
	}
	checkQuiet(b, address)
}

// checkLooks takes screenshots in two widths and two colour schemes, each of them once all conditions are true.
func checkLooks(b *browser, address, name string, conditions ...string) {
	b.t.Helper()
	axe, err := os.ReadFile(os.Getenv(axeFile))
	if err != nil {
		b.t.Fatalf("%s must name axe.min.js of the npm package axe-core: %v", axeFile, err)
	}
	dir := cmp.Or(os.Getenv(picturesDir), b.t.TempDir())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int{390, 1280} {
			b.open(address, width, scheme)
			for _, condition := range conditions {
				b.await(condition, condition)
			}
			var over int
			if b.evaluate("document.documentElement.scrollWidth - innerWidth", &over); over > 0 {
				b.t.Errorf("%d px, %s: the page is %d px too wide", width, scheme, over)
			}
			checkAccess(b, string(axe), fmt.Sprintf("%d px, %s", width, scheme))
			b.picture(dir, fmt.Sprintf("%s-%d-%s.png", name, width, scheme))
		}
	}
}

// checkQuiet fails the test if the console has output, or if a request went to another host.
func checkQuiet(b *browser, address string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.console) > 0 {
		b.t.Errorf("console:\n%s", strings.Join(b.console, "\n"))
	}
	for _, request := range b.requests {
		if !strings.HasPrefix(request, address) && request != "about:blank" {
			b.t.Errorf("a request to %s", request)
		}
	}
}

// serveLive runs a service that consumes events until stop is called, and returns the address of its page.
func serveLive(t *testing.T, env map[string]string, event func(*rand.Rand) string) (address string, stop func()) {
	f := servicetest.NewAt(t, servicetest.EmbeddedBroker(t), 2, nil)
	for _, name := range []string{"UPDATE", "LOSS", "SET", "RADIUS", "DIMENSION", "STRONG_CONVEXITY", "CLIP", "STREAM"} {
		delete(f.Env, "ORIEL_"+name)
	}
	for name, value := range env {
		f.Env[name] = value
	}
	f.Env["ORIEL_STREAM"] = "topic"
	f.Must("topics")
	p := f.Start(nil, "run")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		random := rand.New(rand.NewPCG(1, 2))
		for n := 0; ctx.Err() == nil; n++ {
			values := make([]records.Record, 400)
			for i := range values {
				values[i] = servicetest.Value(event(random))
			}
			f.Send(int32(n%2), values...)
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	f.Await(30*time.Second, "the stream", func() bool { return strings.Contains(p.Output(), "state=running") })
	return f.PageAddress(p) + "/", func() {
		cancel()
		<-done
		p.Terminate()
	}
}

func event(random *rand.Rand) string {
	carrier, hour := random.IntN(3), min(23, int(12+5*random.NormFloat64()))
	delay := 5 + 6*float64(carrier) + float64(hour) + 20*random.NormFloat64()
	return fmt.Sprintf(`{"carrier":%q,"hour":%d,"delay":%.0f}`, []string{"AA", "DL", "UA"}[carrier], max(0, hour), delay)
}

// conversion returns a random event of variants: half of the events are of arm A, and arm B converts more often than
// others.
func conversion(random *rand.Rand) string {
	arm, paid := "AABC"[random.IntN(4)], 0
	if random.Float64() < map[byte]float64{'A': 0.3, 'B': 0.36, 'C': 0.3}[arm] {
		paid = 1
	}
	return fmt.Sprintf(`{"variant":"%c","paid":%d}`, arm, paid)
}

// checkAccess runs axe-core, which must find no serious problem of accessibility.
func checkAccess(b *browser, axe, where string) {
	b.t.Helper()
	b.evaluate(axe+"; true", nil)
	var found []struct {
		ID, Impact, Help string
		Nodes            []struct{ HTML string }
	}
	b.evaluate("axe.run().then((r) => r.violations.map(({id, impact, help, nodes}) => "+
		"({id, impact, help, nodes: nodes.map(({html}) => ({html}))})))", &found)
	for _, v := range found {
		if v.Impact == "serious" || v.Impact == "critical" {
			b.t.Errorf("%s: axe: %s, %s: %s: %d places, first %.200s", where, v.Impact, v.ID, v.Help, len(v.Nodes),
				v.Nodes[0].HTML)
		} else {
			b.t.Logf("%s: axe: %s, %s: %s", where, v.Impact, v.ID, v.Help)
		}
	}
}

// checkKeyboard navigates the page with the tab key, and uses search and table.
func checkKeyboard(b *browser) {
	b.t.Helper()
	b.evaluate("document.activeElement.blur(); document.body.focus(); true", nil)
	reached := map[string]bool{}
	for range 40 {
		b.press("Tab", "")
		var id string
		b.evaluate("document.activeElement.id || document.activeElement.closest('[id]')?.id || ''", &id)
		reached[id] = true
	}
	for _, id := range []string{"memory", "statistic", "search", "table-region", "rows"} {
		if !reached[id] {
			b.t.Errorf("the tabulator does not reach %s", id)
		}
	}
	b.evaluate("document.activeElement.blur(); true", nil)
	b.press("/", "/")
	for _, letter := range "ua hour=1" {
		b.press(string(letter), string(letter))
	}
	b.await("search narrows the table", "document.querySelectorAll('#rows th').length > 0 && "+
		"[...document.querySelectorAll('#rows th')].every((e) => /UA,hour=1/.test(e.textContent))")
	pressed := "document.querySelectorAll('#rows button[aria-pressed=true]').length"
	b.evaluate("document.querySelector('#rows button').focus(); true", nil)
	var before, after int
	b.evaluate(pressed, &before)
	b.press("Enter", "\r")
	if b.evaluate(pressed, &after); after == before {
		b.t.Error("Enter does not choose a number")
	}
}

// checkLive waits for a frame that changes the visible content.
func checkLive(b *browser) {
	b.t.Helper()
	b.evaluate("window.before = document.getElementById('steps').textContent; true", nil)
	b.await("the next frame", "document.getElementById('steps').textContent !== window.before")
}

// checkPaint checks the time of the first paint in five visits without a cache.
func checkPaint(b *browser, address string) {
	b.t.Helper()
	b.do("Network.setCacheDisabled", map[string]any{"cacheDisabled": true}, nil)
	var paints []float64
	for range 5 {
		b.open(address, 1280, "light")
		b.await("a paint", "performance.getEntriesByName('first-contentful-paint').length > 0")
		var at float64
		b.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime", &at)
		paints = append(paints, at)
	}
	slices.Sort(paints)
	b.t.Logf("first paints: %.0f ms", paints)
	if paints[2] >= 200 {
		b.t.Errorf("the median first paint is after %.0f ms, want less than 200", paints[2])
	}
}
