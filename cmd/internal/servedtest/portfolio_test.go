package servedtest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"math"
	"os"
	"strconv"
	"testing"

	"oriel/cmd/internal/repotest"
)

// TestPortfolioOfStocks distributes wealth over 36 stocks for 22 years, through a broker. It protects the newest 1024
// days at ε = 4, with one call of the local linear oracle (LLOO) a day and the proved constants. Each day's return uses
// the decision that was public before the day. These prices teach almost nothing, with or without privacy: final wealth
// is 3.28 to 3.32 without noise and 3.30 for the even portfolio (TestNYSE of operators/coco). So the test checks that
// decisions stay portfolios, that they move as far as the oracle moves, and that noise does not ruin them. Over twenty
// keys, the logarithm of wealth was between 0.13 below and 0.08 above the even portfolio's, with a standard deviation
// of 0.06. Between 0.20 and 0.23 of the wealth was moved, with a standard deviation of 0.01. The limits are at least
// 6.11 such deviations away.
func TestPortfolioOfStocks(t *testing.T) {
	t.Parallel()
	const stocks = 36
	days := pricesByDay(t, stocks)
	f := newFixture(t, 1, nil)
	f.plays(map[string]string{
		"ORIEL_OPERATOR": "coco", "ORIEL_LOSS": "portfolio", "ORIEL_UPDATE": "llo", "ORIEL_CONSTANTS": "proved",
		"ORIEL_SET": "simplex", "ORIEL_RADIUS": "1", "ORIEL_DIMENSION": strconv.Itoa(stocks),
		"ORIEL_MECHANISM": "blt", "ORIEL_WINDOW": "1024", "ORIEL_EPSILON": "4", "ORIEL_DELTA": "1e-6", "ORIEL_CLIP": "1",
		"ORIEL_STRONG_CONVEXITY": "1", "ORIEL_ROUNDS": strconv.Itoa(len(days)), "ORIEL_CONFIDENCE": "0.99",
		"ORIEL_EMIT_EVERY": "1",
	}, nil)
	all := f.decisionsOf("relatives", days, 1)
	// logarithms of wealth since the first day, of decisions and of the even portfolio; distance from the even portfolio
	var learned, even, moved float64
	for day, d := range all[:len(all)-1] {
		var whole, paid, mean, way float64
		for i, x := range d.Point {
			if x < 0 {
				t.Fatalf("decision %d holds %g of stock %d", d.Index, x, i)
			}
			whole, paid, mean = whole+x, paid+x*days[day+1][i], mean+days[day+1][i]/stocks
			way += math.Abs(x - 1.0/stocks)
		}
		if math.Abs(whole-1) > 1e-9 {
			t.Fatalf("decision %d spreads %g of the wealth", d.Index, whole)
		}
		learned, even, moved = learned+math.Log(paid), even+math.Log(mean), max(moved, way)
	}
	t.Logf("log wealth %.3f, evenly spread %.3f; at most %.3f of the wealth was moved", learned, even, moved/2)
	if learned < even-0.5 {
		t.Errorf("log wealth %.3f, evenly spread %.3f", learned, even)
	}
	if moved/2 < 0.14 || moved/2 > 0.3 {
		t.Errorf("at most %.3f of the wealth was moved", moved/2)
	}
}

// pricesByDay returns price relatives by day and stock; operators/coco/testdata/README.md has their source and format.
func pricesByDay(t *testing.T, stocks int) (days [][]float64) {
	t.Helper()
	packed, err := os.ReadFile(repotest.Path("operators/coco/testdata/nyse_o.varint.gz"))
	if err != nil {
		t.Fatal(err)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(unzipped)
	for {
		if _, err := in.Peek(1); err != nil {
			return days
		}
		day := make([]float64, stocks)
		for i := range day {
			change, err := binary.ReadVarint(in)
			if err != nil {
				t.Fatal(err)
			}
			day[i] = float64(100_000+change) / 100_000
		}
		days = append(days, day)
	}
}
