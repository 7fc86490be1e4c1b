package setup

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"oriel/cmd/internal/recordschema"
	"oriel/cmd/internal/setup/sample"
	"oriel/schemas/text"
)

const (
	secretRecord = `{"country":"secret","price":3,"late":true}`
	cloudFront   = `{"specversion":"1.0","id":"1","source":"/s","type":"order","datacontenttype":"application/json","data":`
)

func utf16Of(text string, mark bool) []byte {
	var b []byte
	if mark {
		b = append(b, 0xff, 0xfe)
	}
	for _, unit := range utf16.Encode([]rune(text)) {
		b = append(b, byte(unit), byte(unit>>8))
	}
	return b
}

func utf32Of(text string, mark bool) string {
	var b []byte
	if mark {
		b = append(b, 0xff, 0xfe, 0, 0)
	}
	for _, r := range text {
		b = append(b, byte(r), byte(r>>8), byte(r>>16), 0)
	}
	return string(b)
}

// TestEachFormHasItsSentence checks samples of files and topics whose records are JSON for people, but no lines of JSON
// objects. Each is refused with its own cause, the place and the remedy, and without content.
func TestEachFormHasItsSentence(t *testing.T) {
	var pretty map[string]any
	if err := json.Unmarshal([]byte(secretRecord), &pretty); err != nil {
		t.Fatal(err)
	}
	spread, _ := json.MarshalIndent(pretty, "", "  ")
	quoted, _ := json.Marshal(secretRecord)
	file := func(what, content string, want ...string) {
		t.Helper()
		name := filepath.Join(t.TempDir(), "sample")
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Request{Files: []string{name}, Records: 100}.Look(t.Context(), nil, nil)
		for _, text := range want {
			if err == nil || !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %v, want %s", what, err, text)
			}
		}
	}
	line := secretRecord + "\n"
	file("byte order mark", "\ufeff"+line+line, "EF BB BF", "tail -c +4")
	file("array", "["+secretRecord+",\n"+secretRecord+"]\n", "one JSON array from line 1", "jq -c '.[]'")
	file("array over lines", " [\n  "+secretRecord+"\n]", "one JSON array", "jq -c '.[]'")
	file("spread", string(spread)+"\n"+string(spread)+"\n", "several lines from line 1", "jq -c .")
	file("UTF-16", string(utf16Of(line, true)), "UTF-16", "iconv")
	file("UTF-16 without a mark", string(utf16Of(line, false)), "UTF-16", "iconv")
	file("batch", "["+cloudFront+secretRecord+"}]\n", "batch of CloudEvents", "one event")
	inText := strings.Repeat(cloudFront+string(quoted)+"}\n", 5)
	file("data as a text", inText, "CloudEvents, and the data", "put the object itself")
	file("a text in a line", string(quoted)+"\n", "a text that contains JSON")
	file("texts", "\"secret\"\n\"secret\"\n", "a JSON value and no object", "jq -c '{value: .}'")
	file("numbers", "1\n2\n", "a JSON value and no object")
	file("sequence", "\x1e"+line+"\x1e"+line, "JSON text sequence (RFC 7464)", "jq --seq")
	file("sequence over lines", "\x1e"+string(spread)+"\n", "JSON text sequence", "tr -d '\\036'")
	file("Avro", "Obj\x01\x04\x14avro", "Avro container file", "avro-tools")
	file("gzip", "\x1f\x8b\x08\x00", "gzip", "unpack")
	file("Parquet", "PAR1\x15\x04", "Parquet", "duckdb")
	file("syntax", `{"country":"secret",}`+"\n", "the first, record 1: json_syntax", "not from byte 21 on")
	file("CSV", "country,price\nsecret,3\n", "first line is text without JSON", "if it is CSV", "duckdb")
	file("UTF-32", utf32Of(line, true), "UTF-32", "iconv -f UTF-32")
	file("UTF-32 without a mark", utf32Of(line, false), "UTF-32", "iconv -f UTF-32")
	file("empty", " \n", "it is empty")
	file("other", "\x02secret\n", sample.ErrNoSchema.Error())
	file("no sequence", "\x1esecret secret {}\n", sample.ErrNoSchema.Error())

	topic := func(what, record string, want ...string) {
		t.Helper()
		_, err := sample.Encoding{}.Sniff([][]byte{[]byte(record), []byte(record), []byte(secretRecord)})
		for _, text := range want {
			if err == nil || !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s in a topic: %v, want %s", what, err, text)
			}
		}
	}
	topic("byte order mark", "\ufeff"+secretRecord, "byte order mark", "producer must leave it out")
	topic("array", "["+secretRecord+"]", "JSON arrays", "each element as a record")
	topic("UTF-16", string(utf16Of(secretRecord, false)), "UTF-16", "producer must write UTF-8")
	topic("batch", "["+cloudFront+secretRecord+"}]", "batches of CloudEvents", "each event")
	topic("text", string(quoted), "a text that contains JSON", "producer must put")
	topic("texts", `"secret"`, "JSON texts without an object", "must send an object")
	topic("sequence", "\x1e"+secretRecord, "JSON text sequences (RFC 7464)", "must leave it out")
	topic("data as a text", cloudFront+string(quoted)+"}", "CloudEvents, and the data", "producer must put")

	if got, err := (sample.Encoding{}).Sniff([][]byte{spread, spread}); err != nil || got.Format != recordschema.JSON {
		t.Errorf("a record over several lines in a topic: %v", err) // it is one record
	}
	for _, good := range []string{line, line + "\n" + line, secretRecord, " " + line, cloudFront + secretRecord + "}\n"} {
		if form := sample.FormOfFile([]byte(good)); form != "" {
			t.Errorf("%s: %s", good, form)
		}
	}
}

// TestUnreadRecordsAreNamed checks that a sample in which some records cannot be read names the first, with the place.
func TestUnreadRecordsAreNamed(t *testing.T) {
	records := [][]byte{[]byte(secretRecord), []byte(`{"country":"secret"`), []byte(`{"price":1} 2`)}
	_, read, err := Columns(sample.Encoding{Format: recordschema.JSON}, records)
	want := "record 2: json_syntax: " + text.JSONSyntax.Rule() + "; it ends too early, after byte 19"
	if err != nil || read.Readable != 1 || read.Fault != want {
		t.Errorf("%+v, %v, want %s", read, err, want)
	}
}
