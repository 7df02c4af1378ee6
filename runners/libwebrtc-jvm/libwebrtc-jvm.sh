#!/bin/sh
# Starts the virtual machine in place of this shell. Its own classes go before those of the jars.
here=${0%/*}
exec java -XX:-UsePerfData -Djava.library.path="$here/native" -cp "$here/classes:$here/jars/*" \
    abba.libwebrtc.Main "$@"
