package score

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"oriel/schemas/event"
	"oriel/schemas/text"
)

// Score is the prediction of a model for an event.
type Score struct {
	Value float64 // ⟨features, weights⟩ plus the offset, before the link function and the bounds
	// Deviation is the standard deviation of privacy's noise in Value, or NaN if it is not known. If the model has a
	// Noise, Deviation is exact, except that projection into the set reduces noise. If the model has Deviations, it
	// assumes independent noise in the weights; MaxDeviation is then an upper bound under any correlation.
	Deviation, MaxDeviation float64
}

// Score scores an event's vector with the weights of an arm; arm is 0 if there are no arms.
func (d *Descriptor) Score(m *Model, v event.Vector, arm int) Score {
	from := arm * d.Vector.Dimension
	s := Score{Value: d.Offset}
	squares := 0.0
	for k, x := range v.Values {
		i := from + k
		if v.Indices != nil {
			i = from + int(v.Indices[k])
		}
		s.Value += x * m.Weights[i]
		noise := m.Noise
		if m.Deviations != nil {
			noise = m.Deviations[i]
			s.MaxDeviation += math.Abs(x) * noise
		}
		squares += x * x * noise * noise
	}
	if s.Deviation = math.Sqrt(squares); m.Deviations == nil {
		s.MaxDeviation = s.Deviation
	}
	if m.Deviations == nil && m.Noise == 0 {
		s.Deviation, s.MaxDeviation = math.NaN(), math.NaN()
	}
	return s
}

// AppendAnswer appends the answer to an event as a JSON object. `oriel score --help` describes its members.
func (d *Descriptor) AppendAnswer(dst []byte, m *Model, v event.Vector, now time.Time) []byte {
	dst = text.AppendString(append(dst, `{"stream":`...), m.Stream)
	dst = strconv.AppendUint(append(dst, `,"step":`...), m.Step, 10)
	if m.Time >= 0 {
		dst = strconv.AppendInt(append(dst, `,"time":`...), m.Time, 10)
		clock := "record"
		if m.Events {
			clock = "events"
		}
		dst = append(append(append(dst, `,"clock":"`...), clock...), '"')
		dst = appendNumber(append(dst, `,"age":`...), float64(now.UnixMilli()-m.Time)/1000)
	}
	if d.Predicts == Reward {
		return d.appendRewards(dst, m, v)
	}
	s := d.Score(m, v, 0)
	return append(m.Band.append(d.appendScore(dst, s), d.Predicts, s.Value), '}')
}

func (d *Descriptor) appendRewards(dst []byte, m *Model, v event.Vector) []byte {
	dst = append(dst, `,"predicts":"reward","scores":{`...)
	for i, name := range d.Arms {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendNumber(append(text.AppendString(dst, name), ':'), d.Score(m, v, i).Value)
	}
	return append(dst, "}}"...)
}

// appendScore appends the prediction that follows from a score's value. The noise of a probability follows from the
// noise of the log-odds to first order.
func (d *Descriptor) appendScore(dst []byte, s Score) []byte {
	switch d.Predicts {
	case LogOdds:
		p := 1 / (1 + math.Exp(-s.Value))
		dst = append(dst, `,"predicts":"probability","score":`...)
		dst = d.appendNoise(appendNumber(dst, p), s, p*(1-p))
		dst = appendNumber(append(dst, `,"log_odds":`...), s.Value)
		return appendNumber(append(dst, `,"log_odds_deviation":`...), s.Deviation)
	case Class:
		class := `1`
		if s.Value < 0 {
			class = `-1`
		}
		dst = append(append(append(dst, `,"predicts":"class","class":`...), class...), `,"score":`...)
		return d.appendNoise(appendNumber(dst, s.Value), s, 1)
	}
	value := s.Value
	if len(d.Bounds) == 2 {
		value = max(d.Bounds[0], min(d.Bounds[1], value))
	}
	dst = append(append(append(dst, `,"predicts":"`...), d.Predicts...), `","score":`...)
	return d.appendNoise(appendNumber(dst, value), s, 1)
}

func (d *Descriptor) appendNoise(dst []byte, s Score, slope float64) []byte {
	dst = appendNumber(append(dst, `,"deviation":`...), slope*s.Deviation)
	if s.MaxDeviation == s.Deviation || math.IsNaN(s.MaxDeviation) {
		return dst
	}
	return appendNumber(append(dst, `,"deviation_most":`...), slope*s.MaxDeviation)
}

// appendNumber appends a number, or null if JSON cannot represent it.
func appendNumber(dst []byte, x float64) []byte {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return append(dst, "null"...)
	}
	return text.AppendFloat(dst, x)
}

// appendProblem appends the answer to an event without a score.
func appendProblem(dst []byte, problem string) []byte {
	return append(text.AppendString(append(dst, `{"error":`...), problem), '}')
}

// Asked says how events are encoded, and which stream's model scores them.
type Asked struct {
	Decoder event.Decoder
	Longest int    // longest event, bytes
	Stream  string // stream whose model scores; "": the only one, or the one that the record key decides
	Keyed   bool   // each line is the record key of the event, a tab, and the event
}

// Lines writes an answer to each line before it reads the next line. The answer to an invalid line is an error that
// names the rule, without contents of the line. If there were invalid lines, Lines returns an error at the end.
func (m *Models) Lines(in io.Reader, out io.Writer, a Asked) error {
	longest := a.Longest
	if a.Keyed {
		longest += longestKey
	}
	total, bad, err := text.NewLines(in, longest).Answer(out, func(dst []byte, line text.Line) ([]byte, bool) {
		event, key := line.Value, []byte(nil)
		if a.Keyed {
			key, event, _ = bytes.Cut(line.Value, []byte("\t"))
		}
		answer, problem := m.appendScored(dst, a.Decoder, event, a.Stream, key)
		return answer, problem == ""
	})
	if err == nil && bad > 0 {
		err = fmt.Errorf("%d of %d lines have no score", bad, total)
	}
	return err
}

// longestKey bounds the length of a record key, which ends with a tab.
const longestKey = 64 << 10

// appendScored appends the answer to an event; problem says why the event has no score.
func (m *Models) appendScored(
	dst []byte, decoder event.Decoder, line []byte, stream string, key []byte,
) (answer []byte, problem string) {
	model, err := m.Of(stream, key)
	if err != nil {
		return appendProblem(dst, err.Error()), err.Error()
	}
	var e event.Event
	if code := decoder.Decode(&e, line); code != text.OK {
		return appendProblem(dst, code.String()), code.String()
	}
	return m.AppendAnswer(dst, model, e.Vector, time.Now()), ""
}
