package event

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
)

// node is a JSON value of the slow reference model.
type node struct {
	kind    byte // n null, b boolean, f number, s string, a array, o object
	truth   bool
	text    string // of a string; of a number, its digits as written
	items   []node
	members []nodeMember
}

type nodeMember struct {
	name  string
	value node
}

// readNode reads a value of a document that json.Valid accepts, and how deep it nests.
func readNode(dec *json.Decoder) (n node, depth int) {
	token, err := dec.Token()
	if err != nil {
		panic(err)
	}
	switch v := token.(type) {
	case nil:
		return node{kind: 'n'}, 0
	case bool:
		return node{kind: 'b', truth: v}, 0
	case json.Number:
		return node{kind: 'f', text: string(v)}, 0
	case string:
		return node{kind: 's', text: v}, 0
	case json.Delim:
		n.kind = 'a'
		if v == '{' {
			n.kind = 'o'
		}
		for dec.More() {
			name := ""
			if n.kind == 'o' {
				token, err := dec.Token()
				if err != nil {
					panic(err)
				}
				name = token.(string)
			}
			item, d := readNode(dec)
			depth = max(depth, d)
			n.items = append(n.items, item)
			n.members = append(n.members, nodeMember{name, item})
		}
		if _, err := dec.Token(); err != nil && !errors.Is(err, io.EOF) {
			panic(err)
		}
	}
	return n, depth + 1
}

// hasLoneSurrogate checks the escapes of a valid JSON text; outside of strings there is no backslash.
func hasLoneSurrogate(s string) bool {
	for {
		k := strings.IndexByte(s, '\\')
		if k < 0 {
			return false
		}
		s = s[k:]
		if s[1] != 'u' {
			s = s[2:]
			continue
		}
		first := codeUnit(s)
		s = s[6:]
		switch {
		case first >= 0xdc00 && first <= 0xdfff:
			return true
		case first >= 0xd800 && first <= 0xdbff:
			if second := codeUnit(s); second < 0xdc00 || second > 0xdfff {
				return true
			}
			s = s[6:]
		}
	}
}

// codeUnit returns the value of a leading \uXXXX, or 0.
func codeUnit(s string) uint64 {
	if len(s) < 6 || s[:2] != `\u` {
		return 0
	}
	n, err := strconv.ParseUint(s[2:6], 16, 32)
	if err != nil {
		return 0
	}
	return n
}
