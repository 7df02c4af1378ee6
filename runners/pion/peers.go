package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/webrtc/v4"
)

const connectTime = 15 * time.Second

// pair is two peers of this process, joined by one data channel over loopback.
type pair struct {
	offerer, answerer *webrtc.PeerConnection
	send, receive     *webrtc.DataChannel
}

// newAPI keeps ICE to 127.0.0.1: no server is asked, no other interface is used.
func newAPI() *webrtc.API {
	s := webrtc.SettingEngine{}
	s.SetIncludeLoopbackCandidate(true)
	s.SetInterfaceFilter(func(name string) bool { return name == "lo" })
	s.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	s.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	return webrtc.NewAPI(webrtc.WithSettingEngine(s))
}

func channelInit(delivery string) *webrtc.DataChannelInit {
	ordered := delivery == "ordered"
	init := &webrtc.DataChannelInit{Ordered: &ordered}
	if delivery == "unreliable" {
		var none uint16
		init.MaxRetransmits = &none
	}
	return init
}

// exchange does the offer and the answer; candidates travel inside them.
func exchange(from, to *webrtc.PeerConnection) error {
	offer, err := from.CreateOffer(nil)
	if err != nil {
		return err
	}
	gathered := webrtc.GatheringCompletePromise(from)
	if err = from.SetLocalDescription(offer); err != nil {
		return err
	}
	<-gathered
	if err = to.SetRemoteDescription(*from.LocalDescription()); err != nil {
		return err
	}
	answer, err := to.CreateAnswer(nil)
	if err != nil {
		return err
	}
	gathered = webrtc.GatheringCompletePromise(to)
	if err = to.SetLocalDescription(answer); err != nil {
		return err
	}
	<-gathered
	return from.SetRemoteDescription(*to.LocalDescription())
}

// newPair connects two peers. onMessage is called on a goroutine of the receiver.
func newPair(api *webrtc.API, delivery string, onMessage func([]byte)) (*pair, error) {
	var err error
	p := &pair{}
	if p.offerer, err = api.NewPeerConnection(webrtc.Configuration{}); err != nil {
		return nil, err
	}
	if p.answerer, err = api.NewPeerConnection(webrtc.Configuration{}); err != nil {
		return p, err
	}
	if p.send, err = p.offerer.CreateDataChannel("abba", channelInit(delivery)); err != nil {
		return p, err
	}
	opened := make(chan struct{}, 2)
	p.send.OnOpen(func() { opened <- struct{}{} })
	p.answerer.OnDataChannel(func(c *webrtc.DataChannel) {
		p.receive = c
		c.OnMessage(func(m webrtc.DataChannelMessage) { onMessage(m.Data) })
		c.OnOpen(func() { opened <- struct{}{} })
	})
	if err = exchange(p.offerer, p.answerer); err != nil {
		return p, err
	}
	late := time.After(connectTime)
	for i := 0; i < 2; i++ {
		select {
		case <-opened:
		case <-late:
			return p, errors.New("not connected within 15 s")
		}
	}
	return p, nil
}

// newPairs connects that many.
func newPairs(o *options, count int, onMessage func(int, []byte)) ([]*pair, error) {
	api := newAPI()
	pairs := make([]*pair, 0, count)
	for i := 0; i < count; i++ {
		p, err := newPair(api, o.delivery, func(b []byte) { onMessage(i, b) })
		if p != nil {
			pairs = append(pairs, p)
		}
		if err != nil {
			return pairs, fmt.Errorf("pair %d: %w", i+1, err)
		}
	}
	return pairs, nil
}

func closePairs(pairs []*pair) {
	for _, p := range pairs {
		for _, c := range []*webrtc.PeerConnection{p.offerer, p.answerer} {
			if c != nil {
				_ = c.Close()
			}
		}
	}
}
