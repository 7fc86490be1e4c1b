package console

import (
	"net"
	"sync"
)

// Connections is how many connections the pages have at once. Scrapers and probes need a handful; each costs a file
// descriptor, which brokers and the local store need as well.
const Connections = 64

// Limit bounds the connections that a listener has open at once: the next one waits until another has ended.
func Limit(l net.Listener, most int) net.Listener {
	return &limited{Listener: l, room: make(chan struct{}, most), closed: make(chan struct{})}
}

type limited struct {
	net.Listener
	room   chan struct{} // holds a token for each open connection
	closed chan struct{}
	once   sync.Once
}

// Accept waits for room, and then for a connection.
func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.room <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.room
		return nil, err
	}
	return &counted{Conn: c, leave: sync.OnceFunc(func() { <-l.room })}, nil
}

// Close ends every Accept.
func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

type counted struct {
	net.Conn
	leave func()
}

// Close makes room for another connection.
func (c *counted) Close() error {
	err := c.Conn.Close()
	c.leave()
	return err
}
