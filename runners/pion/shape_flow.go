package main

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// flowPair is one pair of the flow shape.
type flowPair struct {
	pair  *pair
	bytes atomic.Uint64 // arrived
	sent  atomic.Uint64 // messages
	next  uint64        // ordered delivery; the receiver's
	room  chan struct{} // the send buffer has sunk to low
}

type flow struct {
	o                 *options
	pairs             []*flowPair
	messages, damaged atomic.Uint64
	skipped, done     atomic.Uint64 // pairs beyond each mark
	beyond            [2]chan struct{}
	stop              chan struct{}
	failed            chan error
}

func (f *flow) onMessage(i int, b []byte) {
	p := f.pairs[i]
	id, whole := readMessage(b, f.o.size)
	if !whole || id.pair != uint32(i) || f.o.delivery == "ordered" && id.sequence != p.next {
		f.damaged.Add(1)
	}
	p.next = id.sequence + 1
	f.messages.Add(1)
	after := p.bytes.Add(uint64(len(b)))
	before, all := after-uint64(len(b)), f.o.skip+f.o.bytes
	if before < f.o.skip && after >= f.o.skip && f.skipped.Add(1) == uint64(f.o.pairs) {
		close(f.beyond[0])
	}
	if before < all && after >= all && f.done.Add(1) == uint64(f.o.pairs) {
		close(f.beyond[1])
	}
}

// fill keeps the pair's buffer between low and high until it is told to stop.
func (f *flow) fill(i int) {
	p := f.pairs[i]
	b := newMessage(f.o.size)
	for {
		select {
		case <-f.stop:
			return
		default:
		}
		if p.pair.send.BufferedAmount() > f.o.high {
			select {
			case <-p.room:
			case <-f.stop:
				return
			}
			continue
		}
		stamp(b, messageID{pair: uint32(i), sequence: p.sent.Load()})
		if err := p.pair.send.Send(b); err != nil {
			select {
			case f.failed <- fmt.Errorf("cannot send a message: %w", err):
			default:
			}
			return
		}
		p.sent.Add(1)
	}
}

func (f *flow) totals() (bytes, sent uint64) {
	for _, p := range f.pairs {
		bytes += p.bytes.Load()
		sent += p.sent.Load()
	}
	return
}

// phase lasts until all pairs are beyond a mark.
func (f *flow) phase(repeat int, beyond chan struct{}) (*result, error) {
	r := &result{repeat: repeat, begin: now()}
	bytes, sent := f.totals()
	messages := f.messages.Load()
	tick := time.NewTicker(stalledTime)
	defer tick.Stop()
	seen := bytes
	for {
		select {
		case <-beyond:
			r.end = now()
			after, sentAfter := f.totals()
			r.bytes, r.sent, r.messages = after-bytes, sentAfter-sent, f.messages.Load()-messages
			r.elapsed = r.end.at.Sub(r.begin.at)
			r.print()
			return r, nil
		case err := <-f.failed:
			return nil, err
		case <-tick.C:
			after, _ := f.totals()
			if after == seen {
				return nil, errors.New("nothing has arrived for 10 s")
			}
			seen = after
		}
	}
}

// runFlow is the flow shape: pairs whose buffers are kept full.
func runFlow(o *options) (intact bool, err error) {
	f := &flow{o: o, stop: make(chan struct{}), failed: make(chan error, 1),
		beyond: [2]chan struct{}{make(chan struct{}), make(chan struct{})}}
	for i := 0; i < o.pairs; i++ {
		f.pairs = append(f.pairs, &flowPair{room: make(chan struct{}, 1)})
	}
	if o.skip == 0 {
		close(f.beyond[0])
	}
	pairs, err := newPairs(o, o.pairs, f.onMessage)
	defer closeInTime(pairs)
	if err != nil {
		return false, err
	}
	for i, p := range pairs {
		room := f.pairs[i].room
		f.pairs[i].pair = p
		p.send.SetBufferedAmountLowThreshold(o.low)
		p.send.OnBufferedAmountLow(func() {
			select {
			case room <- struct{}{}:
			default:
			}
		})
	}
	fmt.Println("ready")
	for i := range f.pairs {
		go f.fill(i)
	}
	defer close(f.stop)
	if _, err = f.phase(1, f.beyond[0]); err != nil {
		return false, err
	}
	r, err := f.phase(2, f.beyond[1])
	if err != nil {
		return false, err
	}
	fmt.Printf("FINAL %.3f Mbit/s aggregate over %d pairs (ordered=%t) in %.3fs\n",
		rate(float64(r.bytes)*8/1e6, r.elapsed.Seconds()), o.pairs, o.delivery == "ordered",
		r.elapsed.Seconds())
	return f.damaged.Load() == 0, nil
}
