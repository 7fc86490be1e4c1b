package mapping

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"oriel/schemas/text"
)

// node is a value of a mapping document. Unlike encoding/json's own types it keeps the order of members.
type node struct {
	kind    nodeKind
	text    string
	number  float64
	truth   bool
	list    []node
	members []namedNode
}

type namedNode struct {
	name string
	node node
}

type nodeKind string

const (
	objectNode nodeKind = "an object"
	listNode   nodeKind = "a list"
	textNode   nodeKind = "a text"
	numberNode nodeKind = "a number"
	boolNode   nodeKind = "a boolean"
	nullNode   nodeKind = "null"
)

// constant returns the value of a node that can be a constant, otherwise Absent.
func (n node) constant() Value {
	switch n.kind {
	case textNode:
		return Value{Kind: Text, Text: []byte(n.text)}
	case numberNode:
		return Value{Kind: Number, Number: n.number}
	case boolNode:
		return Truth(n.truth)
	default:
		return Value{}
	}
}

// parseTree parses a document that is one object, in UTF-8, without duplicate names.
func parseTree(document []byte) (node, error) {
	if !utf8.Valid(document) {
		return node{}, errors.New("not UTF-8")
	}
	var syntax *json.SyntaxError
	var any json.RawMessage
	if err := json.Unmarshal(document, &any); errors.As(err, &syntax) {
		return node{}, fmt.Errorf("not JSON, from byte %d on", syntax.Offset)
	} else if err != nil {
		return node{}, errors.New("not JSON")
	}
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber() // encoding/json would read 1e-400 as 0
	root, err := parseNode(d, "")
	if err == nil && root.kind != objectNode {
		err = fmt.Errorf("the document is %s; it must be an object", root.kind)
	}
	return root, err
}

// parseNode parses the next value; place is its position in the document, which must be valid JSON.
func parseNode(d *json.Decoder, place string) (node, error) {
	token, err := d.Token()
	if err != nil {
		return node{}, err
	}
	switch v := token.(type) {
	case string:
		return node{kind: textNode, text: v}, nil
	case json.Number:
		x, err := text.ParseNumber(v.String())
		if err != nil {
			return node{}, fmt.Errorf("%s: %w", place, err)
		}
		return node{kind: numberNode, number: x}, nil
	case bool:
		return node{kind: boolNode, truth: v}, nil
	case json.Delim:
		return parseContainer(d, v, place)
	default:
		return node{kind: nullNode}, nil
	}
}

func parseContainer(d *json.Decoder, opening json.Delim, place string) (n node, err error) {
	n.kind = listNode
	if opening == '{' {
		n.kind = objectNode
	}
	for i := 0; d.More(); i++ {
		at, name := fmt.Sprintf("%s[%d]", place, i), ""
		if n.kind == objectNode {
			token, err := d.Token()
			if err != nil {
				return n, err
			}
			name, _ = token.(string)
			if at = name; place != "" {
				at = place + "." + name
			}
			for _, other := range n.members {
				if other.name == name {
					return n, fmt.Errorf("%s: given twice", text.Shown([]byte(at)))
				}
			}
		}
		value, err := parseNode(d, at)
		if err != nil {
			return n, err
		}
		n.members, n.list = append(n.members, namedNode{name, value}), append(n.list, value)
	}
	_, err = d.Token()
	return n, err
}
