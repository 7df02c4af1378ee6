// Command pion sends messages over the data channels of pion/webrtc. Both peers are in this process.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"time"
)

const closeTime = 2 * time.Second

// closeInTime closes the pairs, or leaves them to the end of the process where that takes long.
func closeInTime(pairs []*pair) {
	closed := make(chan struct{})
	go func() {
		closePairs(pairs)
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(closeTime):
	}
}

// stackVersion is that of the module that was built in.
func stackVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == "github.com/pion/webrtc/v4" {
				return d.Version
			}
		}
	}
	return "unknown"
}

func main() {
	o, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		complain(2, err)
	}
	fmt.Printf("stack=pion %s\ndelivery=%s\npacing=%s\n", stackVersion(), o.delivery, o.pacing)
	run := runMessages
	if o.flow {
		run = runFlow
	}
	intact, err := run(o)
	printTotal()
	if intact {
		fmt.Println("payload=intact")
	} else {
		fmt.Println("payload=damaged")
	}
	if err != nil {
		complain(1, err)
	}
	if !intact {
		os.Exit(1)
	}
}
