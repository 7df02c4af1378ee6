/*
 * sample_net: `net` in a line of samples.jsonl: what the run's private network did.
 * For src/model/sample*.c only.
 */
#ifndef ABBA_MODEL_SAMPLE_NET_H
#define ABBA_MODEL_SAMPLE_NET_H

#include "model/netproof.h"
#include "model/sample_line.h"

struct json_writer;

/* Writes the key `net` and its object; nothing for a run without a network of its own. */
void sample_net_put(struct json_writer *w, const struct net_proof *net);

/* Reads the object at the cursor. Texts that `like` has too are shared with it. */
int sample_net_read(struct line *d, const struct net_proof *like, struct net_proof *net);

#endif
