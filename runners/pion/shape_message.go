package main

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

const (
	stalledTime  = 10 * time.Second       // reliable delivery that stands still is broken
	writeOffTime = 200 * time.Millisecond // what has not come by then does not come
	lookTime     = 50 * time.Millisecond  // how long who sleeps does not look
)

// traffic is one repeat, seen by the goroutine that sends and the one that receives.
type traffic struct {
	o       *options
	round   atomic.Uint32
	arrived atomic.Uint64
	bytes   atomic.Uint64
	damaged atomic.Uint64
	wakeAt  atomic.Uint64 // arrivals at which a sender that sleeps is woken; 0: it does not sleep
	wake    chan struct{}
	last    atomic.Int64 // of the last arrival, nanoseconds since birth
	next    uint64       // ordered delivery: the sequence to come; the receiver's

	pair       *pair
	sent, lost uint64
	outgoing   []byte
}

func (t *traffic) onMessage(_ int, b []byte) {
	id, whole := readMessage(b, t.o.size)
	if !whole {
		t.damaged.Add(1)
		return
	}
	if id.round != t.round.Load() {
		return // written off in the repeat before
	}
	if t.o.delivery == "ordered" && id.sequence != t.next {
		t.damaged.Add(1)
	}
	t.next = id.sequence + 1
	t.last.Store(int64(time.Since(birth)))
	t.bytes.Add(uint64(len(b)))
	arrived := t.arrived.Add(1)
	if at := t.wakeAt.Load(); at != 0 && arrived >= at {
		t.wakeSender()
	}
}

func (t *traffic) wakeSender() {
	if t.wakeAt.Swap(0) == 0 {
		return
	}
	select {
	case t.wake <- struct{}{}:
	default: // it has not yet taken the last one
	}
}

// sleepUntil sleeps until so many have arrived, or for a moment in which somebody must look at what
// stalls.
func (t *traffic) sleepUntil(arrived uint64) {
	t.wakeAt.Store(arrived) // before the look: an arrival after it is heard of
	if t.arrived.Load() >= arrived {
		t.wakeSender()
	}
	select {
	case <-t.wake:
	case <-time.After(lookTime):
	}
}

// waitForFewer waits a moment while most or more are under way. Who sleeps does so until there is room
// for a quarter of them: to be woken for every message would cost more than the message.
func (t *traffic) waitForFewer(most uint64) {
	switch t.o.pacing {
	case "yield":
		runtime.Gosched()
	case "wait":
		t.sleepUntil(t.sent - t.lost - (most - 1 - (most-1)/4))
	}
}

func (t *traffic) underWay() uint64 {
	done := t.arrived.Load() + t.lost
	if done >= t.sent {
		return 0
	}
	return t.sent - done
}

// awaitFewer waits until fewer than most are under way.
func (t *traffic) awaitFewer(most uint64) error {
	since, look := time.Since(birth), 1024
	if t.o.pacing == "wait" {
		look = 1
	}
	for tries := 1; t.underWay() >= most; tries++ {
		t.waitForFewer(most)
		if tries%look != 0 {
			continue
		}
		idle := time.Since(birth) - max(since, time.Duration(t.last.Load()))
		if t.o.delivery == "unreliable" && idle >= writeOffTime {
			t.lost = t.sent - t.arrived.Load()
		} else if idle >= stalledTime {
			return fmt.Errorf("nothing has arrived for 10 s, %d messages are under way", t.underWay())
		}
	}
	return nil
}

// sendAll sends so many messages: from the first send to the last arrival.
func (t *traffic) sendAll(round uint32, messages uint64) (*result, error) {
	t.sent, t.lost, t.next = 0, 0, 0
	t.arrived.Store(0)
	t.bytes.Store(0)
	t.last.Store(0)
	t.round.Store(round)

	r := &result{repeat: int(round), begin: now()}
	begun := time.Since(birth)
	for t.sent < messages {
		if err := t.awaitFewer(t.o.inFlight); err != nil {
			return nil, err
		}
		stamp(t.outgoing, messageID{round: round, sequence: t.sent})
		if err := t.pair.send.Send(t.outgoing); err != nil {
			return nil, fmt.Errorf("cannot send a message: %w", err)
		}
		t.sent++
	}
	if err := t.awaitFewer(1); err != nil {
		return nil, err
	}
	r.end = now()
	r.messages, r.bytes, r.sent = t.arrived.Load(), t.bytes.Load(), t.sent
	r.lost = r.sent - r.messages
	if last := time.Duration(t.last.Load()); last > begun {
		r.elapsed = last - begun
	}
	return r, nil
}

// calibrate lowers the number of messages to a tenth where all would take too long.
func calibrate(o *options, warmup *result) uint64 {
	projected := 0.0
	if warmup.messages > 0 {
		projected = warmup.elapsed.Seconds() / float64(warmup.messages) * float64(o.messages)
		if projected <= o.limit.Seconds() {
			return o.messages
		}
	}
	fmt.Printf("NOTE count lowered to %d: %.1f s projected for %d\n", o.messages/10, projected, o.messages)
	return o.messages / 10
}

// runMessages is the message shape: so many messages, so many under way. It tells whether every
// message was whole and what delivery promises held.
func runMessages(o *options) (intact bool, err error) {
	t := &traffic{o: o, outgoing: newMessage(o.size), wake: make(chan struct{}, 1)}
	pairs, err := newPairs(o, 1, t.onMessage)
	defer closeInTime(pairs)
	if err != nil {
		return false, err
	}
	t.pair = pairs[0]
	warmup, err := t.sendAll(0, o.warmup)
	if err != nil {
		return false, err
	}
	fmt.Println("ready")
	messages := calibrate(o, warmup)
	for i := uint32(1); uint64(i) <= o.repeats; i++ {
		r, err := t.sendAll(i, messages)
		if err != nil {
			return false, err
		}
		r.print()
	}
	return t.damaged.Load() == 0, nil
}
