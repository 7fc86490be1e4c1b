package figure

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// slide returns a slide with most features of charts.
func slide() *Slide {
	lines := []Line{
		{Name: "first", End: "3", Bold: true, Width: 3, Points: []Point{{1, 1}, {10, 2}, {1000, 3}}},
		{Name: "second", End: "4", Look: 1, Points: []Point{{1, 1}, {100, 3}, {1000, 4}}},
	}
	return &Slide{
		Title: "Title", Subtitle: "subtitle", Notes: []string{"a note"}, Share: 0.5,
		Left: &Chart{
			X: Axis{Name: "x", Log: true, Min: 1, Max: 1000}, Y: Axis{Name: "y", Log: true, Full: true},
			Lines: lines, Legend: true, Uprights: []float64{10}, Marks: []Mark{{X: 10, Y: 2, Text: "claim"}}, Seconds: 1,
		},
		Right: &Rows{Name: "value", Reference: 2, Called: "least", Rows: []Row{{Name: "a", Text: "3", Value: 3}}},
	}
}

func TestPicturesAreOfTheirSize(t *testing.T) {
	data, err := slide().PNG()
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
	stacked := slide()
	stacked.Stack([]Strip{{"one", stacked.Left, stacked.Right}, {"two", stacked.Left, stacked.Right}})
	if width, height := stacked.Size(); width != 960 || height != 940 {
		t.Errorf("two strips: %g × %g points", width, height)
	}
	svg, err := slide().SVG()
	if err != nil || !bytes.Contains(svg, []byte("Arial")) {
		t.Errorf("no font beside Liberation Sans: %v", err)
	}
}

func TestEqualSlidesGiveEqualBytes(t *testing.T) {
	for name, encode := range map[string]func(*Slide) ([]byte, error){"SVG": (*Slide).SVG, "PNG": (*Slide).PNG} {
		a, errA := encode(slide())
		b, errB := encode(slide())
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: %d and %d bytes differ: %v %v", name, len(a), len(b), errA, errB)
		}
	}
}

func TestSaveRefuses(t *testing.T) {
	if err := slide().Save(filepath.Join(t.TempDir(), "plan.pdf")); err == nil ||
		!strings.Contains(err.Error(), "neither in .svg nor in .png") {
		t.Errorf("%v", err)
	}
	if err := slide().Save(filepath.Join(t.TempDir(), "missing", "plan.svg")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// contrast returns the contrast of two colours by WCAG 2.1: the ratio of their relative luminances, each plus 0.05.
func contrast(a, b color.NRGBA) float64 {
	luminance := func(c color.NRGBA) float64 {
		sum := 0.0
		for i, x := range []uint8{c.R, c.G, c.B} {
			v := float64(x) / 255
			if v > 0.04045 {
				v = math.Pow((v+0.055)/1.055, 2.4)
			} else {
				v /= 12.92
			}
			sum += v * []float64{0.2126, 0.7152, 0.0722}[i]
		}
		return sum + 0.05
	}
	x, y := luminance(a), luminance(b)
	return max(x, y) / min(x, y)
}

// TestLooksDifferAndAreSeen checks that looks differ in colour and in dashes, and that looks and text are visible on a
// light and on a dark slide.
func TestLooksDifferAndAreSeen(t *testing.T) {
	for _, on := range []theme{light, night} {
		if contrast(on.ink, on.paper) < 7 || contrast(on.quiet, on.paper) < 4.5 {
			t.Errorf("dark %t: text is not seen", on.dark)
		}
		for a := range looks {
			if got := contrast(on.color(Look(a)), on.paper); got < 2.2 {
				t.Errorf("dark %t: look %d has a contrast of %.2f", on.dark, a, got)
			}
			for b := range a {
				if on.color(Look(a)) == on.color(Look(b)) || fmt.Sprint(looks[a].dashes) == fmt.Sprint(looks[b].dashes) {
					t.Errorf("dark %t: looks %d and %d are alike", on.dark, a, b)
				}
			}
		}
	}
	if Look(len(looks)).Color(false) != Look(0).Color(false) {
		t.Error("looks do not begin again")
	}
	if Ink.Color(false) != light.ink || Ink.Color(true) != night.ink {
		t.Error("ink is not the colour of text")
	}
	dark := slide()
	dark.Dark = true
	svg, err := dark.SVG()
	if err != nil || bytes.Contains(svg, []byte("#222222")) || !bytes.Contains(svg, []byte("#161616")) {
		t.Errorf("a dark slide has text of a light one, or is not dark: %v", err)
	}
}

func TestEndLabelsDoNotOverlap(t *testing.T) {
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

// TestTicksHaveSigns checks that labels of negative values are as short as those of positive ones, and that 0 has no
// sign.
func TestTicksHaveSigns(t *testing.T) {
	var labels []string
	for _, tick := range linearTicks(span{-20_000, 20_000}, 5) {
		labels = append(labels, tick.Label)
	}
	if want := []string{"-20 k", "-10 k", "0", "10 k", "20 k"}; !slices.Equal(labels, want) {
		t.Errorf("%q, want %q", labels, want)
	}
	for _, size := range []float64{1e-9, 0.3, 0.7, 3, 70, 1e6} {
		for _, most := range []int{3, 5, 7} {
			for _, tick := range linearTicks(span{-0.9 * size, 1.1 * size}, most) {
				if strings.Trim(tick.Label, "-0.") == "" && tick.Label != "0" {
					t.Errorf("a range of %g has the label %q", size, tick.Label)
				}
			}
		}
	}
}

// TestChartsOfNothing checks that a chart without a value, or with one value, is drawn without an error in all kinds of
// axes.
func TestChartsOfNothing(t *testing.T) {
	for _, points := range [][]Point{nil, {{0, 0}}, {{1, 1}}, {{math.NaN(), math.NaN()}}} {
		for _, c := range []Chart{
			{},
			{Diagonal: true},
			{Settling: true},
			{X: Axis{Log: true}, Y: Axis{Log: true}},
			{X: Axis{Log: true, Min: 1, Max: 9}, Y: Axis{Log: true}, Legend: true},
			{X: Axis{Places: []string{"a"}}},
		} {
			c.Lines = []Line{{Name: "a", End: "a", Points: points}}
			svg, err := (&Slide{Left: &c, Right: &Rows{}, Share: 0.5}).SVG()
			if err != nil || bytes.Contains(svg, []byte("NaN")) || bytes.Contains(svg, []byte("Inf")) {
				t.Errorf("%+v: %v, or a place that does not exist", c, err)
			}
		}
	}
}
