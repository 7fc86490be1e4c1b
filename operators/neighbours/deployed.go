package neighbours

import (
	"fmt"
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
)

// CompareDeployed plays the records of the first stream on a machine over a stream that was opened as the service opens
// it, with the same key. Its releases and decisions must have the bytes of the recording. Then its noise has the law
// and the scale of the calibration, and contributions enter a release only as recorded.
func (s *Subject) CompareDeployed(source Source, steps uint64, stream *mechanisms.Stream) (fault string, err error) {
	f, err := s.frame()
	if err != nil {
		return "", err
	}
	recorded, fault, err := f.record(source, steps)
	if err != nil || fault != "" {
		return fault, err
	}
	m, err := s.Open(stream)
	if err != nil {
		return "", err
	}
	r, step := f.run(recorded), m.Steps()
	if fault := r.sameDecisions(0, recorded.shown[0].decisions, m.Open(nil)); fault != "" {
		return "as deployed: " + fault, nil
	}
	for i, c := range recorded.couples {
		decisions := m.Add(nil, c.Record)
		if m.Steps() > step {
			step = m.Steps()
			if k := f.otherRelease(recorded, step, stream); k >= 0 {
				return fmt.Sprintf("as deployed: step %d: %sanother release than contributions and noise of the calibration give", step, r.component(k)), nil
			}
		}
		if fault := r.sameDecisions(i+1, recorded.shown[i+1].decisions, decisions); fault != "" {
			return fmt.Sprintf("as deployed: step %d: %s", step, fault), nil
		}
	}
	return "", nil
}

// otherRelease returns the first component whose release differs from the recorded one, or −1.
func (f *frame) otherRelease(recorded *recording, step uint64, stream *mechanisms.Stream) int {
	for k, component := range f.Mechanism.Contribution.Components {
		x, some := recorded.at(step, k)
		if !some {
			return k
		}
		want := slices.Clone(x.release)
		for i, root := range contribution.Roots(component.Scales) {
			want[i] = float64(want[i] * root)
		}
		if !slices.EqualFunc(want, stream.Sum(k), sameBits) {
			return k
		}
	}
	return -1
}
