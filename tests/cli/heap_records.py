"""Prints the records that the preloaded library `heap` left in a folder (base/heap_record.h), one line
a process: its program, "all" and three sums, then "window" and three for each, then what is amiss.
"""
import os
import struct
import sys

SLOTS_AT, SLOT, WINDOWS = 24576, 64, 1000
FLAGS = ["shadowed", "lost", "many", "twice", "stray"]


def sums(data, at):
    return struct.unpack_from("<QQQ", data, at)


for name in sorted(os.listdir(sys.argv[1]), key=lambda n: [int(part) for part in n.split(".")]):
    with open(os.path.join(sys.argv[1], name), "rb") as f:
        data = f.read()
    magic, version, pid, flags, slots, is_open, closed = struct.unpack_from("<8sIiIIII", data)
    assert magic == b"abbaheap" and version == 1 and pid == int(name.split(".")[0])
    program = data[32:64].split(b"\0")[0].decode()
    total = [sum(column) for column in zip((0, 0, 0), *(sums(data, SLOTS_AT + SLOT * i) for i in range(slots)))]
    words = [program, "all", *map(str, total)]
    for i in range(min(closed, WINDOWS)):
        words += ["window", *map(str, sums(data, 88 + 24 * i))]
    words += [text for bit, text in enumerate(FLAGS) if flags >> bit & 1] + ["open"] * is_open
    print(*words)
