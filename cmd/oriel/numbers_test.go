package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oriel/cmd/internal/numbers"
)

// TestNumbersOfAFile: rows by the hour of the zone, with marginals; wrong flags name themselves.
func TestNumbersOfAFile(t *testing.T) {
	dir := t.TempDir()
	names, input := filepath.Join(dir, "names.json"), filepath.Join(dir, "decisions.json")
	text := `{"cells":["carrier=UA,hour=0:12","carrier=UA,hour=12:24","carrier=AA,hour=0:12","carrier=AA,hour=12:24"],` +
		`"statistics":["count"],"views":[{"memory":8,"of":"steps"}],"increments":["count"],"increment_deviations":[1],"emit_every":1}`
	var decisions []byte
	for step := 1; step <= 3; step++ {
		decisions = fmt.Appendf(decisions, `{"stream":"0","incarnation":"ab0100000000000000000000000000ff","index":%d,"step":%[1]d,`+
			`"decision":[0,0,0,0],"mechanism":"blt","window":0,"batch":1,"epsilon":1,"delta":0,"adjacency":"replace","unit":"event",`+
			`"increments":[1,2,3,4],"window_deviation":[1,1],"time":%d}`+"\n", step, 1769895000000+step*1000000)
	}
	for file, content := range map[string][]byte{names: []byte(text), input: decisions} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var problems bytes.Buffer
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		cmd := root()
		cmd.SetOut(&out)
		problems.Reset()
		cmd.SetErr(&problems)
		cmd.SetArgs(append([]string{"numbers", "--input", input, "--names", names, "--format", "csv"}, args...))
		err := cmd.ExecuteContext(t.Context())
		return out.String(), err
	}
	const hour = "2026-01-31T23:00:00+02:00,2026-02-01T00:00:00+02:00,"
	const want = "start,end,carrier,hour,statistic,value,low,high,deviation,steps,note\n" +
		hour + "UA,all,count,3,0.22819235130064408,5.771807648699356,1.4142135623730951,1,\n" +
		hour + "AA,all,count,7,4.228192351300644,9.771807648699356,1.4142135623730951,1,\n" +
		hour + "all,all,count,10,6.080072030919892,13.919927969080108,2,1,\n"
	out, err := run("--by", "carrier", "--total", "--timezone", "+02:00", "--to", "2026-02-01")
	if err != nil || out != want || problems.String() != numbers.Table+"\n" {
		t.Errorf("%v: %s%s\nwant\n%s", err, out, &problems, want)
	}
	for _, args := range [][]string{
		{"--timezone", "Berlin"},
		{"--format", "xml"},
		{"--from", "yesterday"},
		{"--every", "-1h"},
		{"--by", "delay"},
		{"--statistic", "mean"},
		{"--topic", "x"},
		{"--last", "1h", "--to", "2026-02-01"},
		{"--statistic", "effect"},
	} {
		if out, err := run(args...); err == nil {
			t.Errorf("%v: %s", args, out)
		}
	}
	for want, args := range map[string][]string{
		"ORIEL_ALWAYS_VALID": {"--effects"},
		"--by":               {"--effects", "--by", "carrier"},
		"--total":            {"--effects", "--total"},
		"--statistic":        {"--effects", "--statistic", "count"},
		"--format":           {"--effects", "--format", "parquet"},
	} {
		if out, err := run(args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v: %s", args, err, out)
		}
	}
}
