//go:build soak

package main

import (
	"fmt"
	"math/rand/v2"
	"net"
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
