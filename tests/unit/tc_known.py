#!/usr/bin/env python3
"""Writes tc_known.h: what the real tc makes of netem words, from the message that it would send.

No netem is needed in the kernel: a preloaded sendmsg() prints the request before the kernel refuses
it. Needs iproute2, cc and unshare -rn. Run: tests/unit/tc_known.py > tests/unit/tc_known.h
"""
import os
import struct
import subprocess
import sys
import tempfile

SHIM = r"""
#include <dlfcn.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <sys/socket.h>
ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
    ssize_t (*real)(int, const struct msghdr *, int) = dlsym(RTLD_NEXT, "sendmsg");
    const struct nlmsghdr *h = m->msg_iov[0].iov_base;
    if (h->nlmsg_type == RTM_NEWQDISC) {
        for (unsigned i = 0; i < h->nlmsg_len; i++)
            printf("%02x", ((const unsigned char *)h)[i]);
        printf("\n");
        fflush(stdout);
    }
    return real(fd, m, flags);
}
"""

WORDS = """
delay 20ms 5ms loss 0.1%
delay 20ms 5ms 25% distribution normal
delay 20
delay 20.5us
delay 1us
delay 0.3ms
delay 5s
d 20ms
l 5 del 1ms
latency 20ms
la 1e1ms 0x10
delay 5MSECS 1Msec
delay 20ms loss 1% delay 10ms
delay 20ms 5ms delay 10ms
delay 5ms 10ms
delay 5ms 10
delay 1ms 1ms 100
delay -5ms
delay 1ms 1ms 1ms
delay 1ms 1ms 101
delay
delay 10ms jitter 5ms
delay 1parsec
delay 20ms distribution normal
distribution normal
drop 1%
loss 1
lo 1e-3%
loss .5%
loss random .5%
loss 10% 25%
loss random 10% 25%
loss 33.333333% 66.6667%
loss 1% loss 2%
loss 0% loss 2%
loss state 1% loss 2%
loss -1%
loss 101%
loss 5%%
loss foo
loss ran 5%
loss state 1%
loss state 1% 20%
loss state 1% 20% 30%
loss state 1% 20% 30% 40%
loss state 1% 20% 30% 40% 5%
loss state 1% 20% 30% 40% 5% 6%
loss state 60% 60%
loss state 200%
loss gemodel 1%
loss gemodel 1% 10%
loss gemodel 1% 10% 70%
loss gemodel 1% 10% 70% 0.1%
loss gemodel 100%
loss gemodel 0.3%
loss gemodel
loss gemodel 1% ecn
loss 1% ecn
ecn
duplicate 1%
dup 1% 25% loss 1% 1%
duplicate 5% duplicate 6%
corrupt 0.1%
c 0.1% 50%
corrupt 1% 200%
delay 10ms reorder 25% 50% gap 5
delay 10ms reorder 25%
delay 10ms r 25% g 0x10
delay 1ms reorder 0% gap 3
reorder 25%
gap 5
delay 1ms gap 5
delay 1ms reorder 1% gap 1.5
delay 1ms reorder 1% gap -1
r 10mbit
rate 50mbit
ra 1000
rate 5mbps
rate 1MBPS
rate 1.5kibit
rate 1Kbit
rate 1.5gibit
rate 40gbit
rate 9tbit
rate 8bit
rate 50mbit 14 53 5
rate 50mbit -4
rate 50mbit 1 0
rate 50mbit 1 48 -3
rate 50mbit 0x10
rate 50furlong
rate
rate 100%
slot 10ms
slot 800
slot 10ms 20ms packets 5 bytes 1k
slot 10ms 20ms p 5 b 2kb
slot 10ms bytes 1500
slot distribution normal 10ms 1ms
slot distribution pareto 10ms 1ms packets 3
slot distribution normal 1ms 0
slot distribution normal 1ms
slot 5ms 2ms
slot
slot packets 5
limit 10
limit 1k
limit 1.7
limit 2mb
limit ten
limit
foo
delay 20ms 5ms distribution pareto loss gemodel 1% 10% duplicate 1% corrupt 0.1% reorder 5% gap 3 rate 50mbit 14 limit 500
""".strip().splitlines()


def attributes(data):
    found, at = {}, 0
    while at + 4 <= len(data):
        size, kind = struct.unpack_from("HH", data, at)
        found[kind & 0x3FFF] = data[at + 4:at + size]
        at += (size + 3) & ~3
    return found


def unpacked(form, data):
    size = struct.calcsize(form)
    return struct.unpack(form, (data or b"").ljust(size, b"\0")[:size])


def message(data):
    options = attributes(data[36:])[2]
    latency, limit, loss, gap, duplicate, jitter = struct.unpack("6I", options[:24])
    more = attributes(options[24:])
    models = attributes(more.get(5, b""))
    rate = list(unpacked("=IiIi", more.get(6)))
    rate[0] = unpacked("=Q", more[8])[0] if 8 in more else rate[0]
    return [latency, jitter, limit, loss, gap, duplicate, *unpacked("3I", more.get(1)),
            *unpacked("2I", more.get(3)), *unpacked("2I", more.get(4)), *unpacked("I", more.get(7)),
            *rate, *unpacked("=qqiiqq", more.get(12)), int(2 in more), int(13 in more),
            *unpacked("5I", models.get(1)), *unpacked("4I", models.get(2))]


def main():
    with tempfile.TemporaryDirectory() as folder:
        shim = os.path.join(folder, "shim.so")
        subprocess.run(["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-x", "c", "-", "-o", shim],
                       input=SHIM, text=True, check=True)
        version = subprocess.run(["tc", "-V"], capture_output=True, text=True, check=True).stdout
        print(f"/* Written by tc_known.py: what {version.split(',')[1].strip()}'s tc sends, "
              "or that it refuses. */")
        print("static const struct tc_known tc_known[] = {")
        for words in WORDS:
            run = subprocess.run(
                ["unshare", "-rn", "env", f"LD_PRELOAD={shim}", "tc", "qdisc", "add", "dev", "lo",
                 "root", "netem", *words.split()], capture_output=True, text=True, check=False)
            if run.stdout:
                numbers = message(bytes.fromhex(run.stdout.split()[0]))
                print(f'    {{"{words}", true, {{{", ".join(map(str, numbers))}}}}},')
            else:
                print(f'    {{"{words}", false, {{0}}}},')
        print("};")


sys.exit(main())
