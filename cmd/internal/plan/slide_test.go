package plan

import (
	"bytes"
	"image/color"
	"image/png"
	"slices"
	"testing"

	"oriel/cmd/internal/figure"
	"oriel/cmd/internal/figure/figuretest"
	"oriel/mechanisms"
	"oriel/mechanisms/mechtest/tiertest"
)

// curves caches the results of linesOf; tests only read it.
var curves = map[string][]line{}

func reportOf(t *testing.T, name string) *Report {
	t.Helper()
	r, err := theGolden()
	if i := slices.IndexFunc(everySetting, func(s setting) bool { return s.name == name }); i >= 0 {
		r, err = everySetting[i].report()
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// linesOf returns the curves of a setting.
func linesOf(t *testing.T, name string) []line {
	t.Helper()
	if curves[name] == nil {
		curves[name] = reportOf(t, name).lines()
	}
	return curves[name]
}

func slideOf(t *testing.T, name string) *figure.Slide {
	t.Helper()
	return reportOf(t, name).slide(linesOf(t, name))
}

// allSlides returns the slides of all settings.
func allSlides(t *testing.T) map[string]*figure.Slide {
	t.Helper()
	all := map[string]*figure.Slide{"golden": slideOf(t, "golden")}
	for _, s := range everySetting {
		all[s.name] = slideOf(t, s.name)
	}
	for name, changes := range map[string][]string{
		"numbers":          {"ORIEL_MEMORY=65536", "ORIEL_MEMORIES=1000,65536"},
		"tumbling numbers": tumbling, "total numbers": total,
		"many numbers": {"ORIEL_MEMORIES=10,20,30,40,50,60,70,80,90,100,200,300", "ORIEL_EPSILON=0.01"},
	} {
		all[name] = numbersOf(t, changes...).Slide()
	}
	return all
}

func TestSVGHasItsTexts(t *testing.T) {
	all := allSlides(t)
	f := func(name string, want ...string) {
		t.Helper()
		got := figuretest.Texts(t, all[name])
		for _, text := range want {
			if !slices.Contains(got, text) {
				t.Errorf("%s: no %q in %q", name, text, got)
			}
		}
	}
	f("golden", "tree-gaussian: ε = 1 for every event among the newest 8388608 steps, more for older ones",
		"δ = 1e-09 · adjacency replace · 27 coordinates · clip 1 · 4 events a step · W = 7 d 18 h at 50 events per second",
		"claim: ε = 1 at W", "tree-gaussian", "tree-gamma, tree-laplace", "age of the event: steps since it was added",
		"ε of everything released since",
		"rms error of a coordinate of the sum, loss units", "1 h", "1 y", "1000")
	f("blt", "blt", "optimum 27.65", "1 k", "1 M", optimumNote,
		"not drawn: once-gaussian, once-gamma (no prefix sums: ages only)")
	f("users", "blt: ε = 1 for each user's events among the newest 1024 steps, more for older ones", "age, steps: of a user's events of one window, or of all",
		"blt, all of a user's events so far", "not drawn: once-gaussian, once-gamma (do not fit the setting)")
	f("horizon", "blt: ε = 1 for every event of a stream of 1000 steps", "claim: ε = 1 at the end")
	f("once", "once-gaussian: ε = 1 for every event, for ever", "claim: ε = 1 for ever")
	f("numbers", "δ = 1e-06 · adjacency replace · 8 cells", "± of a count at 95 %, events", "memory 1000", "memory 65536",
		"total since the start", "each step alone")
	f("tumbling numbers", "each step alone", "not drawn: blt (do not fit the setting)")
	f("one step", "blt: ε = 1 for every event of the newest step")
}

// TestTextIsLegible checks for every setting that no text is clipped, too small, or over another text.
func TestTextIsLegible(t *testing.T) {
	all := allSlides(t)
	for name, s := range all {
		if texts := figuretest.Texts(t, s); len(texts) < 15 {
			t.Fatalf("%s: %d texts", name, len(texts))
		}
		figuretest.Legible(t, s)
	}
}

func TestLegendCoversNoLine(t *testing.T) {
	for _, name := range []string{
		"blt", "gamma", "odd window", "one step", "users", "horizon", "once", "golden",
	} {
		if legendCoversNoLine(t, slideOf(t, name)) == 0 {
			t.Errorf("%s: no legend", name)
		}
	}
}

// TestMechanismsHaveLooks checks that every mechanism has a distinct look, and that its colour is in the picture.
func TestMechanismsHaveLooks(t *testing.T) {
	for _, name := range mechanisms.Names() {
		if lookOf(name) < 0 {
			t.Errorf("%s has no look", name)
		}
	}
	if lookOf("no such mechanism") != figure.Ink {
		t.Error("a mechanism that there is not has a look")
	}
	data, err := slideOf(t, "golden").PNG()
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tree-gaussian", "tree-gamma", "tree-laplace", "once-gamma"} {
		want, found := lookOf(name).Color(false), 0
		for y := range picture.Bounds().Dy() {
			for x := range picture.Bounds().Dx() {
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
	a, errA := golden(t).Slide().SVG()
	b, errB := slideOf(t, "golden").SVG()
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("%d and %d bytes differ: %v %v", len(a), len(b), errA, errB)
	}
}

// TestCurves checks that the curves are never below the guarantee, and that they equal it at the points that they are
// drawn through.
func TestCurves(t *testing.T) {
	for _, name := range []string{"blt", "zero-out", "users", "horizon", "once"} {
		r := reportOf(t, name)
		for _, l := range linesOf(t, name) {
			i := slices.IndexFunc(r.Mechanisms, func(m Mechanism) bool { return m.Name == l.names[0] })
			loss := r.Mechanisms[i].machine.guarantee.At
			if l.all {
				loss = r.Mechanisms[i].machine.guarantee.AtAll
			}
			if first, last := l.points[0].X, l.points[len(l.points)-1].X; first != 1 || last != float64(r.lastAge()) {
				t.Errorf("%s: from %g to %g", l.names, first, last)
			}
			for k, xy := range l.points {
				if k%tiertest.Runs(9, 3) > 0 && k < len(l.points)-3 {
					continue
				}
				age := uint64(xy.X)
				// between two points, a stepped curve has the loss of the next one
				next := uint64(l.points[min(k+1, len(l.points)-1)].X)
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
