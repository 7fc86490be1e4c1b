package mapping

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"oriel/schemas/event"
	"oriel/schemas/mapping/calendar"
	"oriel/schemas/text"
)

// referenceMap has an item of every kind.
const referenceMap = `{"where":["/s!=no","/o/p<=7"],"label":"/n>1","features":["t","t2=/o/t:text","b=/b:bool",
	"f=/o/l/1:number",
	{"name":"scaled","from":"/o/l/0/x","scale":0.1,"offset":-3},
	{"name":"more","compare":"/o/l/1>=t"}, {"name":"has","compare":"/o/l!="},
	{"name":"hour","from":"/d","as":"hour","epoch":"ms","zone":"-03:30"},
	{"name":"weekday","from":"/d","as":"weekday","epoch":"s"},
	{"name":"day","from":"/o/d","as":"day","zone":"+05:45"}, {"name":"month","from":"/o/d","as":"month"},
	"/o/~0~1\"", "0"],
	"members":[{"name":"weight","from":"/w","scale":2}]}`

// reference is the slow decoder: encoding/json reads the record as a tree, and each item is read as the package comment
// specifies. It returns the event in the body's own form, or that the record has no event.
type reference struct {
	m    *Mapping
	fast *Decoder
	form *event.JSONDecoder // decoder of events in the body's own form
}

func (w reference) own(record []byte) (text string, ok bool) {
	tree, ok := readTree(record)
	if !ok {
		return "", false
	}
	for _, c := range w.m.Where {
		if !w.holds(c, at(tree, c.Path)) {
			return "", false
		}
	}
	var features, members []string
	for _, i := range w.m.Features {
		v, ok := w.item(i, tree, false)
		if !ok {
			return "", false
		}
		if v != nil {
			features = append(features, quoted(i.Name)+":"+printed(v))
		}
	}
	members = append(members, `"features":{`+strings.Join(features, ",")+"}")
	for _, i := range append([]Item{*w.m.Label}, w.m.Members...) {
		if i.Name == "" {
			i.Name = "label"
		}
		v, ok := w.item(i, tree, true)
		if !ok || v == nil && i.Name == "label" {
			return "", false
		}
		if v != nil {
			members = append(members, quoted(i.Name)+":"+printed(v))
		}
	}
	return "{" + strings.Join(members, ",") + "}", true
}

// item returns nil if the record has no value, otherwise a float64, string or bool.
func (w reference) item(i Item, tree any, number bool) (v any, ok bool) {
	if i.Compare != nil {
		v := at(tree, i.Compare.Path)
		switch v.(type) {
		case map[string]any, []any:
			if i.Compare.Constant != "" {
				return nil, false
			}
		}
		if v == nil && i.Compare.Constant != "" {
			return nil, true
		}
		if v != nil && v != "" && w.unordered(*i.Compare, v) {
			return nil, false
		}
		return w.holds(*i.Compare, v), true
	}
	switch v = at(tree, i.From[0]); v.(type) {
	case nil:
		return nil, true
	case map[string]any, []any:
		return nil, false
	}
	switch {
	case i.As.isTime():
		v, ok = w.time(i, v)
	case i.As == AsText:
		v, ok = printedText(v), true
	case i.As == AsNumber || number || i.As == AsIs && i.scales():
		v, ok = asNumber(v)
	case i.As == AsBool:
		ok = v == true || v == false
		if v == "true" || v == "false" {
			v, ok = v == "true", true
		}
	default:
		ok = true
	}
	if f, isNumber := v.(float64); ok && i.scales() {
		f = float64(f*i.Scale) + i.Offset
		return f, isNumber && f-f == 0
	}
	return v, ok
}

// holds compares as Comparison.Holds specifies.
func (w reference) holds(c Comparison, v any) bool {
	text, isText := v.(string)
	_, isMap := v.(map[string]any)
	_, isList := v.([]any)
	missing := v == nil || isText && text == ""
	switch {
	case missing || c.Constant == "":
		return (missing && c.Constant == "") == (c.Operator == "=") && strings.Contains("= !=", c.Operator)
	case isMap || isList:
		return c.Operator == "!="
	case w.unordered(c, v):
		return false
	}
	order := strings.Compare(printedText(v), c.Constant)
	_, isBool := v.(bool)
	x, okX := asNumber(v)
	if y, okY := asNumber(any(c.Constant)); okX && okY && !isBool {
		a, b := x.(float64), y.(float64)
		order = 0
		if a < b {
			order = -1
		} else if a > b {
			order = 1
		}
	}
	return map[string]bool{
		"=": order == 0, "!=": order != 0, "<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0,
	}[c.Operator]
}

// unordered reports whether a value is no number, and the comparison asks whether it is above or below one.
func (reference) unordered(c Comparison, v any) bool {
	_, constant := asNumber(any(c.Constant))
	_, isNumber := asNumber(v)
	_, isBool := v.(bool)
	return constant && !strings.Contains("= !=", c.Operator) && (isBool || !isNumber)
}

// time reads a time with package time, for a zone with a fixed offset.
func (w reference) time(i Item, v any) (f any, ok bool) {
	zone := time.FixedZone("", int(i.Clock.zone.Standard()))
	var t time.Time
	if number, isNumber := asNumber(v); isNumber && i.Clock.unit != 0 && v != true && v != false {
		seconds := new(big.Rat).Quo(new(big.Rat).SetFloat64(number.(float64)), new(big.Rat).SetFloat64(i.Clock.unit))
		whole := new(big.Int).Div(seconds.Num(), seconds.Denom()) // rounded down
		if !whole.IsInt64() || whole.Int64() < calendar.Earliest || whole.Int64() >= calendar.Latest {
			return nil, false
		}
		t = time.Unix(whole.Int64(), 0)
	} else if text, isText := v.(string); isText {
		if t, ok = parseTime(text, zone); !ok {
			return nil, false
		}
	} else {
		return nil, false
	}
	t = t.In(zone)
	return map[As]float64{
		AsHour: float64(t.Hour()), AsWeekday: float64((t.Weekday()+6)%7 + 1), AsDay: float64(t.Day()),
		AsMonth: float64(t.Month()),
	}[i.As], true
}

var isTime = regexp.MustCompile(
	`^\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d([.,]\d+)?)?([Zz]|[+-]([01]\d|2[0-3])(:?\d\d)?)?)?$`)

// parseTime reads a time with package time, except for leap seconds, which that package does not have.
func parseTime(text string, zone *time.Location) (t time.Time, ok bool) {
	if !isTime.MatchString(text) || text[:4] == "0000" {
		return t, false
	}
	text = strings.ToUpper(strings.ReplaceAll(text, " ", "T"))
	leap := time.Duration(0)
	if len(text) > 18 && text[16:19] == ":60" {
		text, leap = text[:16]+":59"+text[19:], time.Second
	}
	for _, day := range []string{"2006-01-02", "2006-01-02T15:04", "2006-01-02T15:04:05"} {
		for _, offset := range []string{"", "Z07:00", "Z0700", "Z07"} {
			t, err := time.ParseInLocation(day+offset, text, zone)
			if err != nil {
				continue
			}
			t = t.Add(leap)
			utc := t.UTC().Year()
			return t, offset == "" || utc >= 1 && utc <= 9999
		}
	}
	return t, false
}

func at(tree any, p Path) any {
	for _, name := range p {
		switch v := tree.(type) {
		case map[string]any:
			tree = v[name]
		case []any:
			k, err := strconv.Atoi(name)
			if err != nil || k < 0 || k >= len(v) || strconv.Itoa(k) != name {
				return nil
			}
			tree = v[k]
		default:
			return nil
		}
	}
	return tree
}

func asNumber(v any) (f any, ok bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case bool:
		return map[bool]float64{true: 1}[v], true
	case string:
		if strings.Trim(v, "0123456789.+-eE") != "" {
			return nil, false
		}
		f, err := strconv.ParseFloat(v, 64)
		return f, err == nil
	}
	return nil, false
}

func printedText(v any) string {
	if text, isText := v.(string); isText {
		return text
	}
	return printed(v)
}

func printed(v any) string {
	switch v := v.(type) {
	case float64:
		return string(text.AppendFloat(nil, v))
	case string:
		return quoted(v)
	}
	return fmt.Sprint(v)
}

// quoted returns a text in JSON, with &, < and > unescaped.
func quoted(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s)
	return strings.TrimSuffix(b.String(), "\n")
}

// readTree reads one JSON object with at most maxDepth nested containers and without duplicate names.
func readTree(record []byte) (tree any, ok bool) {
	if !utf8.Valid(record) || !json.Valid(record) || hasLoneSurrogate(record) {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(record))
	tree, ok = readValue(d, maxDepth)
	_, isObject := tree.(map[string]any)
	_, err := d.Token()
	return tree, ok && isObject && err == io.EOF
}

// twice stands for an object with a duplicate name, and overflow for a number beyond a float64.
type (
	twice    struct{}
	overflow struct{}
)

// readValue reads a JSON value. It returns twice for an object with a duplicate name, which is a fault only if a path
// leads there.
func readValue(d *json.Decoder, depth int) (v any, ok bool) {
	d.UseNumber()
	token, err := d.Token()
	if err != nil {
		return nil, false
	}
	switch token := token.(type) {
	case json.Number:
		f, err := strconv.ParseFloat(token.String(), 64)
		if err != nil {
			return overflow{}, true
		}
		return f, true
	case json.Delim:
		if depth == 0 {
			return nil, false
		}
		list, object := []any{}, map[string]any{}
		for d.More() {
			name := ""
			if token == '{' {
				t, err := d.Token()
				if err != nil {
					return nil, false
				}
				name = t.(string)
			}
			v, ok := readValue(d, depth-1)
			if !ok {
				return nil, false
			}
			if _, again := object[name]; again && token == '{' {
				v = twice{}
			}
			object[name], list = v, append(list, v)
		}
		_, err := d.Token()
		if token == '{' {
			return object, err == nil
		}
		return list, err == nil
	default:
		return token, true
	}
}

// faulty reports whether a path of the mapping meets a number beyond a float64, or a duplicate name.
func faulty(tree any, p Path) bool {
	for k := range len(p) + 1 {
		if _, is := at(tree, p[:k]).(twice); is {
			return true
		}
	}
	_, is := at(tree, p).(overflow)
	return is
}

// hasLoneSurrogate searches for an escape that encoding/json replaces.
func hasLoneSurrogate(record []byte) bool {
	for i := 0; i+6 <= len(record); i++ {
		if record[i] != '\\' {
			continue
		}
		if record[i+1] != 'u' {
			i++
			continue
		}
		r, _ := strconv.ParseUint(string(record[i+2:i+6]), 16, 32)
		switch {
		case r >= 0xdc00 && r < 0xe000:
			return true
		case r >= 0xd800 && r < 0xdc00:
			if i+12 > len(record) || string(record[i+6:i+8]) != `\u` {
				return true
			}
			low, err := strconv.ParseUint(string(record[i+8:i+12]), 16, 32)
			if err != nil || low < 0xdc00 || low >= 0xe000 {
				return true
			}
			i += 6
		}
		i += 5
	}
	return false
}

// compare checks that fast and slow decoder agree on a record: both have the same event, or both have none. A fault at
// any path of the mapping makes the event invalid, in the model too.
func (w reference) compare(t *testing.T, record []byte) {
	t.Helper()
	var got, want event.Event
	code := w.fast.Decode(&got, record)
	s, ok := w.own(record)
	if tree, read := readTree(record); read && ok {
		ok = !slices.ContainsFunc(w.fast.plan.paths, func(p Path) bool { return faulty(tree, p) })
	}
	if ok {
		ok = w.form.Decode(&want, []byte(s)) == text.OK
	}
	switch {
	case ok != (code == text.OK):
		t.Fatalf("%q: %s, the model has an event: %t %s", record, w.fast.Problem(record, code), ok, s)
	case ok && !sameEvent(got, want):
		t.Fatalf("%q: %v, the model has %v", record, got, want)
	case ok && string(w.fast.AppendOwn(nil)) != s:
		t.Fatalf("%q: printed as %s, the model has %s", record, w.fast.AppendOwn(nil), s)
	}
}

func sameEvent(a, b event.Event) bool {
	return slices.Equal(a.Vector.Indices, b.Vector.Indices) && slices.Equal(a.Vector.Values, b.Vector.Values) &&
		a.Label == b.Label && a.Weight == b.Weight && slices.Equal(a.Numbers, b.Numbers)
}

func newReference(t testing.TB) reference {
	t.Helper()
	m, err := Parse([]byte(referenceMap))
	if err != nil {
		t.Fatal(err)
	}
	form, err := event.NewJSONDecoder(config(lossBody))
	if err != nil {
		t.Fatal(err)
	}
	return reference{m, newDecoder(t, referenceMap, config(lossBody)), form}
}

// referenceRecords has a record of every kind that the model distinguishes.
var referenceRecords = []string{
	`{"s":"yes","n":2,"o":{"p":7,"t":1.50,"l":[{"x":3},"12e1"],"d":"2024-02-29","~/\"":null},"t":"ä","b":"true","d":1700000000,"w":"+.5","0":false}`,
	`{"s":null,"n":"1e0","o":{"p":"7.0","l":["a",5],"d":"0001-01-01 00:00:60,5-2359"},"b":false,"d":"2016-12-31T23:59:60Z"}`,
	`{"n":9,"o":{"p":-1e-400,"l":{"1":8,"0":{"x":"4"}},"t":"\ud83d\ude00","d":"9999-12-31t23:59:59.999999999+00:01"},"\u0064":"2024-01-01"}`,
	`{"n":2,"o":{"p":1,"p":2}}`, `{"n":2,"n":2,"o":{"p":1}}`, `{"n":2,"o":{"p":1},"x":1e999,"y":{"z":1,"z":2}}`, `{"n":1e999,"o":{"p":1}}`,
	`{"n":2,"o":{"p":1},"t":{}}`, `{"n":2,"o":{"p":1},"t":"\ud800"}`, `{"n":2,"o":{"p":1},"d":"2023-02-29"}`, `{"n":2,"o":{"p":1},"d":1e16}`,
	`{"n":2,"o":{"p":1},"b":1}`, `{"n":2,"o":{"p":1},"w":-1}`, `{"n":2,"o":{"p":8}}`, `{"n":[],"o":{"p":1}}`, `{"n":2,"o":{"p":1}} x`, `[]`, ``,
	`{"n":2,"o":{"p":1},"d":"2023-02-28T23:59:59-0330"}`, `{"n":2,"o":{"p":1,"d":"2023-02-28T5:59"}}`, `{"n":2,"o":{"p":1,"l":[{"x":1e308},1]}}`,
	`{"n":2,"o":{"p":1},"t":"<&>\u2028\u0001\\"}`,
	`{"n":true,"o":{"p":1}}`, `{"n":"NA","o":{"p":1}}`, `{"n":"","o":{"p":1}}`, `{"n":2,"o":{"p":"NA"}}`, `{"n":2,"o":{"p":1},"t":"NA","s":"NA"}`,
}

func TestMatchesReferenceModel(t *testing.T) {
	w := newReference(t)
	for _, record := range referenceRecords {
		w.compare(t, []byte(record))
	}
	var e event.Event
	for i, record := range referenceRecords[:3] { // the examples must decode to events
		if code := w.fast.Decode(&e, []byte(record)); code != text.OK {
			t.Errorf("record %d: %s", i, w.fast.Problem([]byte(record), code))
		}
	}
}

func FuzzMapped(f *testing.F) {
	for _, record := range referenceRecords {
		f.Add([]byte(record))
	}
	w := newReference(f)
	f.Fuzz(func(t *testing.T, record []byte) { w.compare(t, record) })
}
