package program

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"oriel/cmd/internal/settings/values"
	"oriel/schemas/text"
)

// numeric are the types of flags that are numbers, lengths of time, or lists of numbers.
type numeric interface {
	float64 | uint64 | int | int32 | time.Duration | []float64 | []uint
}

// Var defines a flag with a number, a length of time, or a list of numbers with commas between them. The texts are read
// as those of settings are. pflag's own flags would take NaN and infinities, read 010 as 8, and know no days.
func Var[T numeric](f *pflag.FlagSet, p *T, name string, value T, usage string) {
	VarP(f, p, name, "", value, usage)
}

// VarP is Var with a letter that may stand for the name.
func VarP[T numeric](f *pflag.FlagSet, p *T, name, shorthand string, value T, usage string) {
	*p = value
	f.VarP(flagValue{p, fmt.Sprint(value) == "-1"}, name, shorthand, usage)
}

// flagValue implements pflag.Value.
type flagValue struct {
	p        any  // pointer to a numeric type
	negative bool // −1, the default, is allowed too; it stands for all, or for none
}

// Set implements pflag.Value.
func (v flagValue) Set(s string) (err error) {
	switch p := v.p.(type) {
	case *float64:
		*p, err = text.ParseNumber(s)
	case *uint64:
		*p, err = text.ParseCount(s)
	case *int:
		*p, err = v.whole(s, math.MaxInt)
	case *int32:
		var n int
		n, err = v.whole(s, math.MaxInt32)
		*p = int32(n)
	case *time.Duration:
		*p, err = values.Duration(s)
	case *[]float64:
		err = parseList(p, s, text.ParseNumber)
	case *[]uint:
		err = parseList(p, s, func(part string) (uint, error) {
			n, err := text.ParseInt(part)
			return uint(n), err
		})
	}
	return err
}

func (v flagValue) whole(s string, most int) (int, error) {
	if v.negative && strings.TrimSpace(s) == "-1" {
		return -1, nil
	}
	n, err := text.ParseInt(s)
	if err == nil && n > most {
		err = fmt.Errorf("too large: above %d", most)
	}
	return n, err
}

// parseList appends the numbers of a text to a list, because a flag may be given several times.
func parseList[T any](p *[]T, text string, parse func(string) (T, error)) error {
	for part := range strings.SplitSeq(text, ",") {
		x, err := parse(part)
		if err != nil {
			return err
		}
		*p = append(*p, x)
	}
	return nil
}

// String implements pflag.Value. Help shows no default if it returns "" or "0".
func (v flagValue) String() string {
	switch p := v.p.(type) {
	case *float64:
		return strconv.FormatFloat(*p, 'g', -1, 64)
	case *time.Duration:
		if *p == 0 {
			return "0"
		}
		return p.String()
	case *[]float64, *[]uint:
		return ""
	default:
		return fmt.Sprint(reflect.ValueOf(p).Elem())
	}
}

// Type implements pflag.Value. The names are pflag's, which help abbreviates.
func (v flagValue) Type() string {
	switch v.p.(type) {
	case *time.Duration:
		return "duration"
	case *[]float64:
		return "float64Slice"
	case *[]uint:
		return "uintSlice"
	default:
		return reflect.TypeOf(v.p).Elem().String()
	}
}
