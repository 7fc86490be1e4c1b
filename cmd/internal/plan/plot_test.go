package plan

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// drawn is a report whose lines are computed once.
type drawn struct {
	*Report
	cached []line
}

func (d drawn) draw(c draw.Canvas) { d.drawLines(c, d.cached) }

// drawings holds what figures has computed: tests only read it.
var drawings = map[string]drawn{}

// drawing returns the slide of a setting.
func drawing(t *testing.T, name string) drawn {
	t.Helper()
	if d, ok := drawings[name]; ok {
		return d
	}
	r, err := theGolden()
	if i := slices.IndexFunc(settings, func(s setting) bool { return s.name == name }); i >= 0 {
		r, err = settings[i].report()
	}
	if err != nil {
		t.Fatal(err)
	}
	drawings[name] = drawn{r, r.lines()}
	return drawings[name]
}

// figures are the slides of all settings, and a frontier.
func figures(t *testing.T) map[string]Figure {
	t.Helper()
	all := map[string]Figure{"golden": drawing(t, "golden"), "frontier": frontier(t)}
	for _, s := range settings {
		all[s.name] = drawing(t, s.name)
	}
	for name, changes := range map[string][]string{
		"numbers":          {"ORIEL_MEMORY=65536", "ORIEL_MEMORIES=1000,65536"},
		"tumbling numbers": tumbling, "total numbers": total,
		"many numbers": {"ORIEL_MEMORIES=10,20,30,40,50,60,70,80,90,100,200,300", "ORIEL_EPSILON=0.01"},
	} {
		r := numbersOf(t, changes...)
		all[name] = drawn{r, r.lines()}
	}
	return all
}

// texts returns the text of an SVG.
func texts(t *testing.T, svg []byte) []string {
	t.Helper()
	var all []string
	inside := false
	for decoder := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			inside = x.Name.Local == "text"
		case xml.CharData:
			if inside {
				all = append(all, string(x))
			}
		case xml.EndElement:
			inside = false
		}
	}
}

func TestSVGSaysWhatItShows(t *testing.T) {
	all := figures(t)
	f := func(name string, want ...string) {
		t.Helper()
		svg, err := render(all[name], ".svg")
		if err != nil {
			t.Fatal(err)
		}
		got := texts(t, svg)
		for _, text := range want {
			if !slices.Contains(got, text) {
				t.Errorf("%s: no %q in %q", name, text, got)
			}
		}
		if !bytes.Contains(svg, []byte("Arial")) {
			t.Errorf("%s: no font beside Liberation Sans", name)
		}
	}
	f("golden", "tree-gaussian: ε = 1 for every event among the newest 8388608 steps, more for older ones",
		"δ = 1e-09 · adjacency replace · 27 coordinates · clip 1 · 4 events a step · W = 7 d 18 h at 50 events per second",
		"claim: ε = 1 at W", "tree-gaussian", "tree-gamma, tree-laplace", "age of the event: steps since it was added",
		"ε of everything released since",
		"rms error of a coordinate of the sum, loss units", "1 h", "1 y", "1000")
	f("blt", "blt", "optimum 27.65", "1 k", "1 M", optimumNote,
		"not drawn: once-gaussian, once-gamma (no prefix sums: ages only); tree-gamma-paper, tree-gaussian-paper (printed constants prove another ε)")
	f("users", "blt: ε = 1 for each user's events among the newest 1024 steps, more for older ones", "age, steps: of a user's events of one window, or of all",
		"blt, all of a user's events so far", "not drawn: tree-gaussian-paper, tree-gamma-paper, once-gaussian, once-gamma (do not fit the setting)")
	f("horizon", "blt: ε = 1 for every event of a stream of 1000 steps", "claim: ε = 1 at the end")
	f("once", "once-gaussian: ε = 1 for every event, for ever", "claim: ε = 1 for ever")
	f("numbers", "δ = 1e-06 · adjacency replace · 8 cells", "± of a count at 95 %, events", "memory 1000", "memory 65536",
		"total since the start", "each step alone")
	f("tumbling numbers", "each step alone", "not drawn: blt (do not fit the setting)")
	f("one step", "blt: ε = 1 for every event of the newest step")
	f("frontier", "growth of the loss with age: µ(100 W) / µ(W)", "variance / optimum", "0.25 configured", "0", "1")
}

// box is where a text stands, points.
type box struct {
	text                     string
	size                     vg.Length
	left, right, bottom, top vg.Length
}

// boxes returns where a figure writes, from what it draws on a recorder. Rotated text keeps its middle and exchanges
// its sides.
func boxes(f Figure) []box {
	var canvas recorder.Canvas
	f.draw(draw.NewCanvas(&canvas, slideWidth, slideHeight))
	var all []box
	turned := false
	for _, action := range canvas.Actions {
		switch a := action.(type) {
		case *recorder.Rotate:
			turned = a.Angle != 0
		case *recorder.Pop:
			turned = false
		case *recorder.FillString:
			style := writing(a.Font.Size, ink, text.XLeft, text.YBottom)
			style.Font = a.Font
			// Letters reach from the baseline, a little below, to three quarters of their size above it.
			b := box{
				a.String, a.Font.Size, a.Point.X, a.Point.X + style.Width(a.String), a.Point.Y - 0.05*a.Font.Size,
				a.Point.Y + 0.7*a.Font.Size,
			}
			if turned { // by a quarter to the left: (x, y) is (y, −x) on the slide
				b = box{a.String, a.Font.Size, -b.top, -b.bottom, b.left, b.right}
			}
			all = append(all, b)
		}
	}
	return all
}

// neighbours is a frontier whose points are close.
func neighbours(t *testing.T) *Frontier {
	t.Helper()
	f := *frontier(t)
	f.Compromises = nil
	for i, c := range frontier(t).Compromises {
		c.Configured = i == 4
		f.Compromises = append(f.Compromises, c)
		c.Weight += 0.01
		c.Hundred *= 0.999
		c.Configured = false
		f.Compromises = append(f.Compromises, c)
	}
	return &f
}

// Nothing is clipped, small, or over another text, in any setting.
func TestTextIsLegible(t *testing.T) {
	all := figures(t)
	all["neighbours"] = neighbours(t)
	for name, f := range all {
		all := boxes(f)
		if len(all) < 15 {
			t.Fatalf("%s: %d texts", name, len(all))
		}
		for i, a := range all {
			if a.size < 12 {
				t.Errorf("%s: %q has %g points", name, a.text, a.size)
			}
			if a.left < 4 || a.right > slideWidth-4 || a.bottom < 4 || a.top > slideHeight-4 {
				t.Errorf("%s: %q leaves the slide: %+v", name, a.text, a)
			}
			for _, b := range all[:i] {
				if a.left < b.right && b.left < a.right && a.bottom < b.top && b.bottom < a.top {
					t.Errorf("%s: %q and %q overlap: %+v %+v", name, a.text, b.text, a, b)
				}
			}
		}
	}
}

// The legend is painted over the panel: no line comes under it. Between points, lines are straight in the panel.
func TestLegendCoversNoLine(t *testing.T) {
	for _, name := range []string{
		"blt", "gamma", "paper", "odd window", "one step", "users", "horizon", "once",
		"golden",
	} {
		d := drawing(t, name)
		var canvas recorder.Canvas
		left, _ := slide(draw.NewCanvas(&canvas, slideWidth, slideHeight), "", "", d.footnote(), 0.6)
		p := d.agePanel(d.cached)
		data := p.DataCanvas(p.inner(left))
		box := (&legend{d.cached}).box(data)
		for _, l := range d.cached {
			for i := 1; i < len(l.points); i++ {
				a, b := l.points[i-1], l.points[i]
				ax, ay, bx, by := p.X.Norm(a.X), p.Y.Norm(a.Y), p.X.Norm(b.X), p.Y.Norm(b.Y)
				for k := range 20 {
					part := float64(k) / 19
					at := vg.Point{X: data.X(ax + part*(bx-ax)), Y: data.Y(ay + part*(by-ay))}
					if at.X > box.Min.X && at.X < box.Max.X && at.Y > box.Min.Y-2 {
						t.Fatalf("%s: %v runs under the legend at %v", name, l.names, at)
					}
				}
			}
		}
	}
}

func TestPNG(t *testing.T) {
	data, err := render(drawing(t, "golden"), ".png")
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if size := picture.Bounds(); size != image.Rect(0, 0, 1920, 1080) {
		t.Errorf("%v", size)
	}
	for _, name := range []string{"tree-gaussian", "tree-gamma", "tree-laplace", "once-gamma"} {
		want, found := lookOf(name).color, 0
		for y := range 1080 {
			for x := range 1920 {
				if r, g, b, _ := picture.At(x, y).RGBA(); (color.NRGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 0xff}) == want {
					found++
				}
			}
		}
		if found < 100 {
			t.Errorf("%s: %d pixels of its colour", name, found)
		}
	}
}

func TestEqualFiguresGiveEqualBytes(t *testing.T) {
	for _, ending := range []string{".svg", ".png"} {
		a, errA := render(golden(t), ending)
		b, errB := render(drawing(t, "golden"), ending)
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: %d and %d bytes differ: %v %v", ending, len(a), len(b), errA, errB)
		}
	}
}

// Every mechanism has a look of its own: another colour, and other dashes.
func TestLooksDiffer(t *testing.T) {
	for i, a := range looks {
		for _, b := range looks[:i] {
			if a.look.color == b.look.color || fmt.Sprint(a.look.dashes) == fmt.Sprint(b.look.dashes) {
				t.Errorf("%s and %s look alike", a.name, b.name)
			}
		}
	}
	if got := lookOf("no such mechanism"); got.color != ink {
		t.Errorf("%+v", got)
	}
}

// The curves are those of the guarantee: never below it, and at it where a point is.
func TestCurves(t *testing.T) {
	for _, name := range []string{"blt", "zero-out", "users", "horizon", "once"} {
		r := drawing(t, name)
		for _, l := range drawing(t, name).cached {
			i := slices.IndexFunc(r.Mechanisms, func(m Mechanism) bool { return m.Name == l.names[0] })
			loss := r.Mechanisms[i].machine.guarantee.At
			if l.all {
				loss = r.Mechanisms[i].machine.guarantee.AtAll
			}
			if first, last := l.points[0].X, l.points[len(l.points)-1].X; first != 1 || last != float64(r.lastAge()) {
				t.Errorf("%s: from %g to %g", l.names, first, last)
			}
			for k, xy := range l.points {
				if k%3 > 0 && k < len(l.points)-3 {
					continue
				}
				age := uint64(xy.X)
				next := uint64(l.points[min(k+1, len(l.points)-1)].X) // a curve in steps stands at the loss of the next corner
				if !l.all {
					next = age + 1
				}
				if exact := loss(age).Epsilon; xy.Y < exact*(1-1e-12) || xy.Y > loss(next).Epsilon*(1+1e-12) && xy.Y > exact {
					t.Errorf("%s: %g at age %d, the guarantee is %g", l.names, xy.Y, age, exact)
				}
				if k > 0 && (xy.X < l.points[k-1].X || xy.Y < l.points[k-1].Y) {
					t.Errorf("%s: falls after point %d", l.names, k)
				}
			}
		}
	}
}

func TestApart(t *testing.T) {
	got := distinct([]vg.Length{10, 10, 50, 11}, 8, 0, 60)
	sorted := slices.Clone(got)
	slices.Sort(sorted)
	for i := 1; i < len(sorted); i++ {
		if sorted[i]-sorted[i-1] < 7.99 {
			t.Errorf("%v: too near", got)
		}
	}
	if got[2] != 50 || !(got[0] < got[1] && got[1] < got[3]) {
		t.Errorf("%v: moved without need, or out of order", got)
	}
}

func TestSaveRefuses(t *testing.T) {
	r := drawing(t, "once")
	if err := Save(r, filepath.Join(t.TempDir(), "plan.pdf")); err == nil ||
		!strings.Contains(err.Error(), "neither in .svg nor in .png") {
		t.Errorf("%v", err)
	}
	if err := Save(r, filepath.Join(t.TempDir(), "missing", "plan.svg")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
