// Package bubbletest runs whole services in synctest bubbles, in which the test controls brokers, network, disks and
// time. Its tests check three claims. Apart from the decisions, nothing that an observer sees distinguishes
// neighbouring inputs. Decisions depend on the input alone. A partition's opening survives kills.
package bubbletest
