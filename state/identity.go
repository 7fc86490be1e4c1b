package state

import (
	"fmt"
	"strings"
)

// Identity identifies the deployment to which a local store belongs.
//
//	format u8 ‖ kind u8 ‖ topic 16 ‖ cluster var ‖ name var ‖ CRC-32C u32
type Identity struct {
	Cluster string   // Kafka cluster id
	Name    string   // the deployment's name
	Topic   [16]byte // UUID of the input topic
}

// Append appends the identity as a record.
func (i Identity) Append(dst []byte) []byte {
	start := len(dst)
	dst = appendHeader(dst, kindIdentity)
	dst = append(dst, i.Topic[:]...)
	dst = appendVariable(dst, i.Cluster)
	dst = appendVariable(dst, i.Name)
	return appendChecksum(dst, start)
}

// ParseIdentity parses a record that Append wrote.
func ParseIdentity(b []byte) (Identity, error) {
	r, err := unframe(b, kindIdentity)
	if err != nil {
		return Identity{}, err
	}
	i := Identity{Topic: r.array16(), Cluster: string(r.variable()), Name: string(r.variable())}
	if r.bad || r.at != len(r.record) {
		return Identity{}, malformed(kindIdentity)
	}
	return i, nil
}

// Compare returns an error if the stored identity differs from this process's own. The error names the difference and
// the remedy.
func (i Identity) Compare(own Identity, dir string) error {
	var differs []string
	if i.Cluster != own.Cluster {
		differs = append(differs, fmt.Sprintf("cluster %q, not %q", i.Cluster, own.Cluster))
	}
	if i.Name != own.Name {
		differs = append(differs, fmt.Sprintf("name %q, not %q", i.Name, own.Name))
	}
	if i.Topic != own.Topic {
		differs = append(differs, fmt.Sprintf("input topic %x, not %x", i.Topic, own.Topic))
	}
	if differs == nil {
		return nil
	}
	return fmt.Errorf("%w: directory %s holds the state of %s; give this deployment a directory of its own, or remove this one if nothing uses it",
		ErrForeign, dir, strings.Join(differs, ", "))
}
