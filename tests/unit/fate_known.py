#!/usr/bin/env python3
"""Writes fate_known.h: what netem decides for 20,000 packets, by a model of its own.

Written from the description of the kernel's decisions, not from src/net/fate*.c, in exact integers
and with a plain list for the queue. Run: tests/unit/fate_known.py > tests/unit/fate_known.h
"""

U32 = 0xFFFFFFFF
TABLE = [-16384, -8192, -4096, -1, 0, 1, 3000, 4096, 8192, 20000, 32767]
PACKETS = 20000
SHOWN = 10


def share(percent):
    return round(percent / 100 * U32)


class Stream:
    STEPS = ((6, 13, 4294967294, 18), (2, 27, 4294967288, 2),
             (13, 21, 4294967280, 7), (3, 12, 4294967168, 13))

    def __init__(self, seed):
        i = ((seed >> 32) ^ (seed << 10) ^ seed) & U32
        self.s = [i + m if i < m else i for m in (2, 8, 16, 128)]

    def draw(self):
        for k, (a, b, c, d) in enumerate(self.STEPS):
            s = self.s[k]
            self.s[k] = (((s & c) << d) & U32) ^ ((((s << a) & U32) ^ s) >> b)
        return self.s[0] ^ self.s[1] ^ self.s[2] ^ self.s[3]


class Netem:
    def __init__(self, seed, **asked):
        self.stream = Stream(seed)
        self.asked = asked
        self.last = {}
        self.state = 1
        self.counter = 0
        self.queue = []  # due times of packets that wait
        self.count = dict.fromkeys(
            ("lost", "limit", "duplicated", "corrupted", "reordered", "ecn_marked"), 0)

    def get(self, name, default=0):
        return self.asked.get(name, default)

    def correlated(self, name):
        fresh = self.stream.draw()
        if self.get(name + "_rho") == 0:
            return fresh
        rho = self.get(name + "_rho") + 1
        self.last[name] = (fresh * (2**32 - rho) + self.last.get(name, 0) * rho) >> 32
        return self.last[name]

    def happens(self, name):
        return self.get(name) != 0 and self.get(name) >= self.correlated(name)

    def lost(self):
        if "gemodel" in self.asked:
            p, r, h, k = self.asked["gemodel"]
            move, lose = self.stream.draw(), self.stream.draw()
            if self.state == 1:
                self.state = 2 if move < p else 1
                return lose < k
            self.state = 1 if move < r else 2
            return lose > h
        if "state" in self.asked:
            p13, p31, p32, p23, p14 = self.asked["state"]
            x = self.stream.draw()
            before = self.state
            if before == 1:
                self.state = 4 if x < p14 else 3 if x < (p13 + p14) & U32 else 1
                return self.state != 1
            if before == 2:
                self.state = 3 if x < p23 else 2
                return self.state == 3
            if before == 3:
                self.state = 2 if x < p32 else 1 if x < (p31 + p32) & U32 else 3
                return self.state == 3
            self.state = 1
            return False
        return self.happens("loss")

    def delay(self):
        mu, sigma = self.get("delay"), self.get("jitter")
        if sigma == 0:
            return mu
        x = self.correlated("delay")
        if not self.get("table"):
            return x % (2 * sigma) + mu - sigma
        t = TABLE[x % len(TABLE)]
        y = (sigma % 8192) * t
        y += 4096 if y >= 0 else -4096
        y = abs(y) // 8192 * (1 if y >= 0 else -1)
        return y + sigma // 8192 * t + mu

    def busy(self, size):
        length = size + self.get("overhead")
        cell = self.get("cell")
        if cell:
            length = -(-length // cell) * (cell + self.get("cell_overhead"))
        return length * 10**9 // self.asked["rate"]

    def packet(self, now, size, capable, duplicate=False, marked=False):
        """Copies put into the queue: (due - now, flags); 1 at head, 2 corrupt, 4 marked."""
        copies, count, flags = [], 1, 4 if marked else 0
        if not duplicate and self.happens("duplicate"):
            count += 1
            self.count["duplicated"] += 1
        if self.lost():
            if self.get("ecn") and capable:
                flags |= 4
                self.count["ecn_marked"] += 1
            else:
                count -= 1
                self.count["lost"] += 1
        if count == 0:
            return []
        if self.happens("corrupt"):
            flags |= 2
        if len(self.queue) >= self.get("limit", 10**9):
            self.count["limit"] += count
            return []
        self.count["corrupted"] += flags >> 1 & 1
        if count == 2:
            copies = self.packet(now, size, capable, True, bool(flags & 4))
            if copies and copies[0][1] & 4 and not flags & 2:
                flags |= 4
        gap = self.get("gap")
        if gap == 0 or self.counter < gap - 1 or self.asked["reorder"] < self.correlated("reorder"):
            wait, start = self.delay(), now
            if self.get("rate"):
                if self.queue:
                    wait = max(0, wait - (max(self.queue) - now))
                    start = max(self.queue)
                wait += self.busy(size)
            due = start + wait
            if self.get("keep_order") and self.queue:
                due = max(due, max(self.queue))
            self.counter += 1
        else:
            due, flags, self.counter = now, flags | 1, 0
        if self.queue and (flags & 1 or due < max(self.queue)):
            self.count["reordered"] += 1
        self.queue.append(due)
        return copies + [(due - now, flags)]

    def run(self, spacing, size, capable):
        out = []
        for k in range(PACKETS):
            now = 10**9 + k * spacing
            self.queue = [due for due in self.queue if due > now]
            out.append(self.packet(now, size + k % 3, capable))
        return out


def digest(fates):
    """FNV-1a of the numbers, little endian in 8 bytes each: copies, then due and flags of each."""
    h = 0xCBF29CE484222325
    for copies in fates:
        for x in [len(copies)] + [v for c in copies for v in c]:
            for byte in (x & (2**64 - 1)).to_bytes(8, "little"):
                h = (h ^ byte) * 0x100000001B3 & (2**64 - 1)
    return h


CASES = [
    # words, what they mean, abba's own, spacing in ns, ECN-capable packets
    ("loss 10%", dict(loss=share(10)), 100000, False),
    ("loss 10% 25%", dict(loss=share(10), loss_rho=share(25)), 100000, False),
    ("loss 100%", dict(loss=U32), 100000, False),
    ("loss 0.001%", dict(loss=share(0.001)), 100000, False),
    ("loss gemodel 1%", dict(gemodel=(share(1), share(99), 0, 0)), 100000, False),
    ("loss gemodel 2% 30% 70% 0.5%",
     dict(gemodel=(share(2), share(30), U32 - share(70), share(0.5))), 100000, False),
    ("loss state 3%", dict(state=(share(3), share(97), 0, U32, 0)), 100000, False),
    ("loss state 3% 40% 20% 50% 1%",
     dict(state=(share(3), share(40), share(20), share(50), share(1))), 100000, False),
    ("loss state 70% 60% 60% 50% 60%",  # both sums wrap
     dict(state=(share(70), share(60), share(60), share(50), share(60))), 100000, False),
    ("loss 5% ecn", dict(loss=share(5), ecn=True), 100000, True),
    ("loss 5% ecn", dict(loss=share(5), ecn=True), 100000, False),
    ("duplicate 20% loss 20% ecn corrupt 10%",
     dict(duplicate=share(20), loss=share(20), ecn=True, corrupt=share(10)), 100000, True),
    ("duplicate 5% 50%", dict(duplicate=share(5), duplicate_rho=share(50)), 100000, False),
    ("duplicate 10% loss 30%", dict(duplicate=share(10), loss=share(30)), 100000, False),
    ("loss 3% corrupt 4%", dict(loss=share(3), corrupt=share(4)), 100000, False),
    ("corrupt 30% 40%", dict(corrupt=share(30), corrupt_rho=share(40)), 100000, False),
    ("delay 20ms", dict(delay=20000000), 100000, False),
    ("delay 20ms 5ms", dict(delay=20000000, jitter=5000000), 100000, False),
    ("delay 20ms 5ms 25% loss 1%",
     dict(delay=20000000, jitter=5000000, delay_rho=share(25), loss=share(1)), 100000, False),
    ("delay 1ms 5ms", dict(delay=1000000, jitter=5000000), 100000, False),
    ("delay 1ms 2147483.647us", dict(delay=1000000, jitter=2**31 - 1), 100000000, False),
    ("delay 20ms 4.999ms distribution steps",
     dict(delay=20000000, jitter=4999000, table=True), 100000, False),
    ("delay 2ms 5ms 60% distribution steps",
     dict(delay=2000000, jitter=5000000, delay_rho=share(60), table=True), 100000, False),
    ("delay 10ms reorder 25% 50%",
     dict(delay=10000000, reorder=share(25), reorder_rho=share(50), gap=1), 1000000, False),
    ("delay 10ms 3ms reorder 50% gap 5",
     dict(delay=10000000, jitter=3000000, reorder=share(50), gap=5), 1000000, False),
    ("rate 100mbit", dict(rate=12500000), 100000, False),
    ("rate 100mbit limit 20 duplicate 10%",
     dict(rate=12500000, limit=20, duplicate=share(10)), 100000, False),
    ("delay 2ms 1ms rate 200mbit 20 53 5 limit 100",
     dict(delay=2000000, jitter=1000000, rate=25000000, overhead=20, cell=53, cell_overhead=5,
          limit=100), 60000, False),
    ("rate 1gbit -14 100 -20", dict(rate=125000000, overhead=-14, cell=100, cell_overhead=-20),
     9000, False),
    ("delay 5ms limit 40", dict(delay=5000000, limit=40), 100000, False),
    ("delay 20ms 5ms keep_order", dict(delay=20000000, jitter=5000000, keep_order=True), 100000,
     False),
    ("delay 20ms 8ms 10% distribution steps loss 2% duplicate 3% corrupt 1% reorder 10% gap 3 "
     "rate 400mbit limit 500",
     dict(delay=20000000, jitter=8000000, delay_rho=share(10), table=True, loss=share(2),
          duplicate=share(3), corrupt=share(1), reorder=share(10), gap=3, rate=50000000,
          limit=500), 30000, False),
]


def main():
    print("/* Written by fate_known.py: what netem decides, by a model apart from the program. */")
    print("static const struct known known[] = {")
    for i, (words, asked, spacing, capable) in enumerate(CASES):
        seed = (0x9E3779B97F4A7C15 * (i + 1)) & (2**64 - 1)
        netem = Netem(seed, **asked)
        fates = netem.run(spacing, 1330, capable)
        first = [(k, *c) for k, copies in enumerate(fates) for c in copies][:SHOWN]
        count = netem.count
        print(f'    {{"{words}", {seed:#x}ULL, {spacing}, {str(capable).lower()},')
        print("     {" + ", ".join(str(v) for v in count.values()) + "},")
        print(f"     {digest(fates):#x}ULL, {sum(len(c) for c in fates)},")
        print("     {" + ", ".join(f"{{{k}, {due}, {flags}}}" for k, due, flags in first) + "}},")
    print("};")


main()
