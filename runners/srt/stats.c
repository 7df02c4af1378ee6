#include "stats.h"

void stats_add(struct stats *sum, const struct session *s, const struct link *l)
{
    /* A later libsrt may know more members than these headers do. */
    union {
        SRT_TRACEBSTATS known;
        char room[4096];
    } got = {0};
    const SRT_TRACEBSTATS *b = &got.known;

    if (s->lib->bstats(l->socket, &got.known, 0) != 0)
        return;
    sum->links++;
    sum->sent += b->pktSentTotal;
    sum->received += b->pktRecvTotal;
    sum->retransmitted += b->pktRetransTotal;
    sum->send_lost += b->pktSndLossTotal;
    sum->receive_lost += b->pktRcvLossTotal;
    sum->send_dropped += b->pktSndDropTotal;
    sum->receive_dropped += b->pktRcvDropTotal;
    sum->naks_sent += b->pktSentNAKTotal;
    sum->naks_received += b->pktRecvNAKTotal;
    sum->belated += b->pktRcvBelated;
    sum->undecrypted += b->pktRcvUndecryptTotal;
    sum->filter_extra += b->pktSndFilterExtraTotal;
    sum->filter_rebuilt += b->pktRcvFilterSupplyTotal;
    sum->filter_lost += b->pktRcvFilterLossTotal;
    sum->rtt_ms += b->msRTT;
}
