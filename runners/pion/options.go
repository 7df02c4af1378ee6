package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

// options is the command line, the same for every data-channel harness.
type options struct {
	flow     bool // else the message shape
	size     int
	delivery string
	pacing   string

	inFlight, warmup, messages, repeats uint64
	limit                               time.Duration

	pairs       int
	low, high   uint64
	skip, bytes uint64
}

const (
	messageLeast = 24
	messageMost  = 65536
)

func oneOf(value, name string, words ...string) error {
	for _, w := range words {
		if value == w {
			return nil
		}
	}
	return fmt.Errorf("'%s' is not a value for --%s: one of %v", value, name, words)
}

// parse reads the arguments after the program's name. flag.ErrHelp means that help was printed.
func parse(args []string) (*options, error) {
	o := &options{}
	if len(args) == 0 {
		return nil, fmt.Errorf("no shape: message or flow, see 'pion --help'")
	}
	if args[0] == "--help" || args[0] == "-h" {
		args = append([]string{"message"}, args...)
	}
	if err := oneOf(args[0], "shape", "message", "flow"); err != nil {
		return nil, fmt.Errorf("'%s' is not a shape: message or flow", args[0])
	}
	o.flow = args[0] == "flow"

	f := flag.NewFlagSet("pion", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.IntVar(&o.size, "size", 1000, "bytes in a message")
	f.StringVar(&o.delivery, "delivery", "ordered", "ordered, unordered, or unreliable (no retransmission)")
	f.Uint64Var(&o.inFlight, "in-flight", 512, "messages that may be under way")
	f.Uint64Var(&o.warmup, "warmup", 1000, "messages before the first repeat")
	f.Uint64Var(&o.messages, "messages", 100000, "messages in a repeat")
	f.Uint64Var(&o.repeats, "repeats", 3, "repeats in this process")
	limit := f.Float64("limit", 60, "seconds: a repeat that would take longer sends a tenth")
	f.StringVar(&o.pacing, "pacing", "yield", "spin, yield or wait, while there is no room")
	f.IntVar(&o.pairs, "pairs", 1, "flow: connections")
	f.Uint64Var(&o.low, "low", 524288, "flow: buffered bytes at which sending goes on")
	f.Uint64Var(&o.high, "high", 1048576, "flow: buffered bytes at which it stops")
	f.Uint64Var(&o.skip, "skip", 16777216, "flow: bytes a pair before measuring")
	f.Uint64Var(&o.bytes, "bytes", 50331648, "flow: bytes a pair that are measured")
	if err := f.Parse(args[1:]); err != nil {
		if err == flag.ErrHelp {
			fmt.Println("usage: pion message|flow [OPTIONS]\n" +
				"Messages over pion's data channels between two peers in this process.")
			f.SetOutput(os.Stdout)
			f.PrintDefaults()
		}
		return nil, err
	}
	o.limit = time.Duration(*limit * float64(time.Second))
	return o, o.check(f)
}

func (o *options) check(f *flag.FlagSet) error {
	if f.NArg() > 0 {
		return fmt.Errorf("nothing may follow the options, but there is '%s'", f.Arg(0))
	}
	if err := oneOf(o.delivery, "delivery", "ordered", "unordered", "unreliable"); err != nil {
		return err
	}
	if err := oneOf(o.pacing, "pacing", "spin", "yield", "wait"); err != nil {
		return err
	}
	if o.size < messageLeast || o.size > messageMost {
		return fmt.Errorf("'%d' is not a value for --size: %d to %d", o.size, messageLeast, messageMost)
	}
	if o.inFlight == 0 || o.warmup == 0 || o.messages < 10 || o.repeats == 0 || o.limit <= 0 ||
		o.pairs < 1 || o.pairs > 1000 || o.bytes == 0 {
		return fmt.Errorf("a count, a limit or a number of bytes is too small or too large")
	}
	if o.low >= o.high {
		return fmt.Errorf("--low %d is not below --high %d", o.low, o.high)
	}
	return nil
}
