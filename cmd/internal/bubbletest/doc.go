// Package bubbletest runs whole services in synctest bubbles, where the test controls brokers, network, disks and time.
// Its tests check three claims. An observer cannot distinguish neighbouring inputs by anything but the decisions.
// Decisions depend on the input alone. A partition's opening survives kills.
package bubbletest
