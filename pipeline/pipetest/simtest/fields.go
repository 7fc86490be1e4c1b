package simtest

import (
	"reflect"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Kafka's messages use the same names for the same things, so one walk over their fields serves all of them.

// fields calls visit for each field of a message, including nested ones.
func fields(v reflect.Value, visit func(name string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		fields(v.Elem(), visit)
	case reflect.Slice:
		for i := range v.Len() {
			fields(v.Index(i), visit)
		}
	case reflect.Struct:
		for _, f := range membersOf(v.Type()) {
			field := v.Field(f.index)
			visit(f.name, field)
			if f.nested {
				fields(field, visit)
			}
		}
	default:
	}
}

// member is an exported field of a struct.
type member struct {
	index  int
	name   string
	nested bool // the field holds structs
}

// members caches membersOf by type. Every request and answer of a simulated cluster is walked several times.
var members sync.Map

func membersOf(t reflect.Type) []member {
	if known, ok := members.Load(t); ok {
		return known.([]member)
	}
	var all []member
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() {
			all = append(all, member{i, f.Name, nested(f.Type)})
		}
	}
	members.Store(t, all)
	return all
}

func nested(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return nested(t.Elem())
	default:
		return t.Kind() == reflect.Struct
	}
}

// firstCode returns the first error code of an answer, or 0 if there is none.
func firstCode(answer kmsg.Response) int16 {
	var first int16
	fields(reflect.ValueOf(answer), func(name string, v reflect.Value) {
		if name == "ErrorCode" && v.Kind() == reflect.Int16 && first == 0 {
			first = int16(v.Int())
		}
	})
	return first
}

// refusal builds an answer with an error code: for each item that the request names, or one code if it names no items.
// It returns nil if the answer has no field for a code.
func refusal(request kmsg.Request, code int16) kmsg.Response {
	answer := request.ResponseKind()
	mirror(reflect.ValueOf(answer).Elem(), reflect.ValueOf(request).Elem())
	whole := reflect.ValueOf(answer).Elem().FieldByName("ErrorCode")
	inner := false
	fields(reflect.ValueOf(answer), func(name string, v reflect.Value) {
		if name == "ErrorCode" && v != whole {
			v.SetInt(int64(code))
			inner = true
		}
	})
	if whole.IsValid() && !inner {
		whole.SetInt(int64(code))
	}
	// Fields of later versions are not sent, so the code may be missing from the encoded answer.
	if sent, err := parseAnswer(request, answerFrame(answer, make([]byte, 4))); err != nil || firstCode(sent) != code {
		return nil
	}
	return answer
}

// mirror adds an entry to an answer for each of the request's entries, with the same names. In requests, partitions may
// be plain numbers and groups plain names.
func mirror(answer, request reflect.Value) {
	for i := range answer.NumField() {
		name, to := answer.Type().Field(i).Name, answer.Field(i)
		from := request.FieldByName(name)
		switch {
		case name == "Version" || name == "UnknownTags" || !from.IsValid():
		case from.Type() == to.Type():
			to.Set(from)
		case to.Kind() == reflect.Slice && from.Kind() == reflect.Slice && to.Type().Elem().Kind() == reflect.Struct:
			to.Set(reflect.MakeSlice(to.Type(), from.Len(), from.Len()))
			for i := range from.Len() {
				to.Index(i).Addr().Interface().(interface{ Default() }).Default()
				if entry := from.Index(i); entry.Kind() == reflect.Struct {
					mirror(to.Index(i), entry)
				} else if entry.Kind() == reflect.String {
					to.Index(i).FieldByName("Group").Set(entry)
				} else {
					to.Index(i).FieldByName("Partition").Set(entry)
				}
			}
		}
	}
}
