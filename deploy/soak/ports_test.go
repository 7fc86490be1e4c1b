//go:build soak

package soak

import (
	"fmt"
	"math/rand/v2"
	"net"
	"runtime/debug"
	"testing"
)

// ports returns free addresses below Linux's range for outgoing connections, so that no other connection takes an
// address between the check that it is free and its use.
type ports struct{ given map[int]bool }

const firstPort, portCount = 20000, 12000

func (p *ports) address() string {
	for {
		port := firstPort + rand.IntN(portCount)
		if p.given[port] {
			continue
		}
		address := fmt.Sprintf("127.0.0.1:%d", port)
		listener, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		_ = listener.Close()
		p.given[port] = true
		return address
	}
}

// TestPortsStayFree checks that an address is returned only once, and that ports does not keep a listener open on an
// address that it drew and rejected.
func TestPortsStayFree(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the garbage collector would close a forgotten listener
	p := ports{given: map[int]bool{}}
	const left, others = 8, 200 // number of ports that may be drawn; number of ports that other processes may hold
	for port := firstPort; port < firstPort+portCount-left; port++ {
		p.given[port] = true
	}
	if first, second := p.address(), p.address(); first == second {
		t.Errorf("%s was given twice", first)
	}
	held := 0
	for port := firstPort; port < firstPort+portCount; port++ {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			held++
			continue
		}
		_ = listener.Close()
	}
	if held > others {
		t.Errorf("%d of %d ports are held", held, portCount)
	}
}
