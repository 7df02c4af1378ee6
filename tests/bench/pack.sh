#!/bin/bash
# Packing an archive beside `tar | zstd -T1` at the same level, in turns; and the highest resident
# set of pack and unpack for a small and a large archive.
#
# usage: tests/bench/pack.sh        environment: MIB (200), ROUNDS (5), LEVELS ("1 3 6 9")
# shellcheck source=tests/bench/common.bash
. "$(dirname "$0")/common.bash"
busy

# An archive's folder with so many MiB of raw files: lines of a log and of memory over time.
make_archive() { # FOLDER MIB
    python3 - "$1" "$2" <<'END'
import hashlib, os, random, sys
folder, mib = sys.argv[1], int(sys.argv[2])
os.makedirs(folder + "/raw")
random.seed(1)
sums = []

def put(name, data):
    with open(f"{folder}/{name}", "wb") as f:
        f.write(data)
    sums.append((name, hashlib.sha256(data).hexdigest()))

def lines(n):
    at, rss, out, size = 0, 30000000, [], 0
    while size < n:
        at += 5000000 + random.randrange(-90000, 90000)
        rss += random.choice((0, 0, 4096, 4096 * random.randrange(99)))
        out.append(f"{at},{rss}\n")
        size += len(out[-1])
    return "".join(out).encode()

parts = [lines(1 << 19) for _ in range(16)]
for i in range(2 * mib):
    k = random.randrange(1 << 18)
    part = parts[i % 16]
    put(f"raw/{i + 1:06}-sender.rss.csv", (part[k:] + part[:k]).replace(b"7", b"%d" % (i % 10)))
for name in ("report.json", "samples.jsonl", "series.json"):
    put(name, b"{}\n")
with open(folder + "/SHA256SUMS", "w") as f:
    f.writelines(f"{digest}  {name}\n" for name, digest in sorted(sums))
END
}

mib=${MIB:-200}
make_archive "$scratch/large" "$mib"
make_archive "$scratch/small" 4
echo "an archive of $mib MiB in $((2 * mib)) files"

# seconds, CPU seconds and KiB, one line a run, in turns
for level in ${LEVELS:-1 3 6 9}; do
    for ((i = 0; i < ${ROUNDS:-5}; i++)); do
        used "$scratch/pack.$level" "$abba" pack -q --level "$level" "$scratch/large" -o /dev/null
        # shellcheck disable=SC2016
        used "$scratch/tar.$level" sh -c 'tar -C "$0" -cf - large | zstd -q -T1 "-$1" -c >/dev/null' \
            "$scratch" "$level"
    done
    ours=$(column 1 "$scratch/pack.$level" | median) theirs=$(column 1 "$scratch/tar.$level" | median)
    aim "level $level: speed beside tar | zstd -T1" "$(compute "$theirs / $ours" %.2f)" x at-least 0.80
    ours=$(column 2 "$scratch/pack.$level" | median) theirs=$(column 2 "$scratch/tar.$level" | median)
    echo "    CPU time beside tar | zstd -T1: $(compute "$ours / $theirs" %.2f) x"
    kib=$(column 3 "$scratch/pack.$level" | median)
    aim "level $level: highest resident set" "$(compute "$kib / 1024" %.1f)" MiB at-most 64
done

for size in small large; do
    "$abba" pack -q "$scratch/$size" -o "$scratch/$size.tar.zst"
    used "$scratch/unpack.$size" "$abba" unpack -q "$scratch/$size.tar.zst" "$scratch/$size.again"
    used "$scratch/repack.$size" "$abba" pack -q "$scratch/$size" -o /dev/null
    aim "pack, $size: highest resident set" \
        "$(column 3 "$scratch/repack.$size" | awk '{ printf "%.1f", $1 / 1024 }')" MiB at-most 64
    aim "unpack, $size: highest resident set" \
        "$(column 3 "$scratch/unpack.$size" | awk '{ printf "%.1f", $1 / 1024 }')" MiB at-most 64
done
